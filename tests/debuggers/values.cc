// What gdb_test.py lets gdb print: objects of each kind, and memory that holds none.
#include <rondo/rondo.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using rondo::Literal;
using rondo::Tensor;

struct House {
  Tensor slab, tank;
};
struct Street {
  std::vector<House> houses;
  std::map<std::string, Tensor> names;
};

/// gdb stops here, and then looks at its caller.
extern "C" [[gnu::noinline]] void look(const void* something) {
  asm volatile("" : : "r"(something) : "memory");
}

[[gnu::noinline]] Tensor doubled(const Tensor& x) { return x + x; }
[[gnu::noinline]] Literal two_numbers() { return Literal::from({1.5f, 2.5f}, {2}); }

Tensor in_a_trace(Tensor x, Tensor y) {
  const auto parts = rondo::while_loop([](Tensor, Tensor a) { return a < 3.0f; },
                                       [](Tensor i, Tensor a) { return std::pair(i + 1, a + 1); },
                                       std::pair(Tensor(0), y));
  Tensor product = x * parts.second;
  look(&product);  // 1
  return product;
}

void literals() {
  const float infinity = std::numeric_limits<float>::infinity();
  Literal f32 = Literal::from({0.1f, -0.0f, 100.0f, 1e-7f, -infinity, 16777216.0f}, {6});
  Literal f64 = Literal::from({0.1, 1e300, std::numeric_limits<double>::quiet_NaN()}, {3});
  Literal f16 = Literal::from({rondo::float16(0.1f), rondo::float16(65504.0f)}, {2});
  Literal bf16 = Literal::from({rondo::bfloat16(3.14f), rondo::bfloat16(-1.0f)}, {2});
  Literal f8 = Literal::from({rondo::float8_e4m3fn(0.3f), rondo::float8_e4m3fn(448.0f)}, {2});
  Literal u4 = Literal::from({rondo::uint4(15), rondo::uint4(0)}, {2});
  Literal s64 = Literal::scalar(std::numeric_limits<std::int64_t>::min());
  Literal u64 = Literal::scalar(std::numeric_limits<std::uint64_t>::max());
  Literal pred = Literal::from({true, false, true, true}, {2, 2});
  Literal c64 = Literal::from({std::complex<float>(0.1f, -2.0f)}, {1});
  Literal c128 = Literal::scalar(std::complex<double>(1.0, 0.5));
  std::vector<int> counted(1000);
  std::iota(counted.begin(), counted.end(), 0);
  Literal longer = Literal::from(counted);
  Literal table = Literal::from(counted, {20, 50});
  Literal no_rows = Literal::zeros(rondo::s32({2, 0}));
  Literal by_default;
  Literal moved_to = two_numbers();
  Literal moved_from = std::move(moved_to);
  std::swap(moved_to, moved_from);
  Literal copy = moved_to;
  const Literal& reference = copy;
  rondo::float16 half(0.1f);
  rondo::float8_e5m2 small(1.25f);
  look(&reference);  // 2
}

void tensors() {
  Tensor empty;
  Tensor scalar = 2.5f;
  Tensor vector = rondo::constant({1.0f, 2.0f, 3.0f});
  Tensor lazy = vector + 1.0f;
  Tensor computed = vector * 2.0f;
  computed.eval();
  Tensor known = rondo::jit([](Tensor x) { return x - 1.0f; })(vector);
  known.eval();
  Tensor moved_from = vector;
  Tensor moved_to = std::move(moved_from);
  House house{vector, {}};
  Street street{{house, house}, {{"main", scalar}}};
  rondo::TreeStructure tree = rondo::TreeStructure::of(street);
  rondo::TreeStructure no_tree;
  look(&street);  // 3
}

void programs() {
  rondo::Shape shape{2, 3};
  rondo::Shape scalar_shape;
  rondo::TensorType type = rondo::bf16({4});
  rondo::DType dtype = rondo::DType::kC64;
  rondo::DType no_dtype = static_cast<rondo::DType>(77);
  rondo::SourceLocation here = rondo::SourceLocation::current();
  rondo::SourceLocation nowhere;
  rondo::SourceLocation accented{"/src/caf\u00e9.cc", "order", 3};
  rondo::Function program = rondo::trace(in_a_trace, rondo::f32({2}), rondo::f32());
  rondo::Function named = rondo::trace(
      [](House h) {
        return House{h.tank, h.slab + 1.0f};
      },
      House{Tensor(1.0f), rondo::constant({1, 2})});
  rondo::Function empty;
  look(&program);  // 4
}

/// Memory that is none of these objects.
union Rubbish {
  unsigned char bytes[64];
  std::uintptr_t pointers[8];
};
void mistakes() {
  Rubbish zeros, ones, itself;
  std::memset(&zeros, 0, sizeof zeros);
  std::memset(&ones, 0xff, sizeof ones);
  for (std::uintptr_t& pointer : itself.pointers)
    pointer = reinterpret_cast<std::uintptr_t>(&itself);
  look(&zeros);  // 5
}

int main() {
  literals();
  tensors();
  programs();
  mistakes();
  static_cast<void>(doubled(rondo::constant({1, 2})));
  two_numbers();
}
