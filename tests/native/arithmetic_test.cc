// Every op on every type, on operands near the limits of the type, compared with the same op on
// host types.
#include <functional>
#include <random>

#include "lower/opcodes.h"
#include "lower/passes/dead_code.h"
#include "native/run_native.h"
#include "support/native_steps.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using NativeArithmetic = NativeTest;

constexpr Type kAllTypes[] = {Type::kPred, Type::kS8,  Type::kS16, Type::kS32, Type::kS64,
                              Type::kU8,   Type::kU16, Type::kU32, Type::kU64, Type::kF16,
                              Type::kBF16, Type::kF32, Type::kF64};

/// How the elements are iterated.
enum class Loop { kFor, kLanes };

using Bits = std::vector<std::uint64_t>;
using Element = std::function<Value(TestProgram&, Value, Value)>;
using Expected = std::function<std::uint64_t(std::uint64_t, std::uint64_t)>;

std::vector<std::uint8_t> packed(const Bits& values, std::size_t width) {
  std::vector<std::uint8_t> out(values.size() * width);
  for (std::size_t i = 0; i < values.size(); i++) std::memcpy(&out[i * width], &values[i], width);
  return out;
}

/// result[i] = element(a[i], b[i]) for all i, in native code.
Bits run_elementwise(const Target* target, Loop kind, Type from, Type to, const Bits& a,
                     const Bits& b, const Element& element) {
  TestProgram p;
  const std::int64_t width = lower::width(from), to_width = lower::width(to);
  const Value x = p.argument(0), y = p.argument(1), z = p.result(0);
  const Value count = p.index(static_cast<std::int64_t>(a.size()));
  Value index;
  if (kind == Loop::kFor) {
    index = p.program().fors[p.begin_for(p.index(0), count, 1, {})].index;
  } else {
    index = p.program().lanes[p.begin_lanes(count)].index;
  }
  p.store_at(element(p, p.load_at(from, x, index, width), p.load_at(from, y, index, width)), z,
             index, to_width);
  if (kind == Loop::kFor) {
    p.end_for({});
  } else {
    p.end_lanes();
  }
  const lower::Program program = p.finish();
  const auto code = compile(program, target);
  Buffers buffers;
  buffers.add_argument(packed(a, static_cast<std::size_t>(width)));
  buffers.add_argument(packed(b, static_cast<std::size_t>(width)));
  buffers.add_result(a.size() * static_cast<std::size_t>(to_width));
  EXPECT_EQ(buffers.run(*code, program), lower::Status::kDone);
  const auto bytes = buffers.result<std::uint8_t>(0);
  Bits out(a.size());
  for (std::size_t i = 0; i < out.size(); i++)
    std::memcpy(&out[i], &bytes[i * static_cast<std::size_t>(to_width)],
                static_cast<std::size_t>(to_width));
  return out;
}

Bits edge_bits(Type type) {
  Bits out;
  lower::for_type(type, [&]<class T>() {
    for (T x : edge_values<T>()) out.push_back(lower::to_bits(x));
  });
  return out;
}

struct Pairs {
  Bits a, b;
};
Pairs all_pairs(Type type) {
  Pairs out;
  for (auto x : edge_bits(type)) {
    for (auto y : edge_bits(type)) out.a.push_back(x), out.b.push_back(y);
  }
  return out;
}
Pairs same_pairs(Type type) { return {edge_bits(type), edge_bits(type)}; }

std::uint64_t comparable_bits(Type type, std::uint64_t bits) {
  lower::for_type(type, [&]<class T>() { bits = comparable(lower::from_bits<T>(bits)); });
  return bits;
}

void expect_elementwise(Type from, Type to, const Pairs& pairs, const std::string& what,
                        const Element& element, const Expected& expected) {
  for (const Target* target : targets()) {
    for (Loop kind : {Loop::kFor, Loop::kLanes}) {
      const Bits have = run_elementwise(target, kind, from, to, pairs.a, pairs.b, element);
      for (std::size_t i = 0; i < have.size(); i++) {
        const std::uint64_t want = expected(pairs.a[i], pairs.b[i]);
        ASSERT_EQ(comparable_bits(to, have[i]), comparable_bits(to, want))
            << what << " of " << lower::type_name(from) << ", " << target->name
            << (kind == Loop::kLanes ? " lanes" : "") << std::hex << ", operands " << pairs.a[i]
            << " and " << pairs.b[i];
      }
    }
  }
}

std::string name_of(Opcode op) { return std::string(lower::info(op).name); }

/// The host's function for an opcode that for_unary, for_binary or for_compare knows.
std::uint64_t host(Opcode op, Type type, std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  lower::for_type(type, [&]<class T>() {
    const T x = lower::from_bits<T>(a), y = lower::from_bits<T>(b);
    lower::for_unary(op, [&]<Opcode code>() {
      if constexpr (lower::has_unary<code, T>) out = lower::to_bits(lower::unary<code, T>(x));
    });
    lower::for_binary(op, [&]<Opcode code>() {
      if constexpr (lower::has_binary<code, T>) out = lower::to_bits(lower::binary<code, T>(x, y));
    });
    lower::for_compare(op, [&]<Opcode code>() { out = lower::compared<code, T>(x, y); });
  });
  return out;
}

bool has(Opcode op, Type type) {
  bool out = false;
  lower::for_type(type, [&]<class T>() {
    lower::for_unary(op, [&]<Opcode code>() { out = lower::has_unary<code, T>; });
    lower::for_binary(op, [&]<Opcode code>() { out = lower::has_binary<code, T>; });
  });
  return out;
}

template <class F>
void for_opcodes(Opcode first, Opcode last, F&& f) {
  for (int c = static_cast<int>(first); c <= static_cast<int>(last); c++) f(static_cast<Opcode>(c));
}

TEST_F(NativeArithmetic, UnaryOps) {
  for (Type type : kAllTypes) {
    for_opcodes(Opcode::kNegate, Opcode::kCountLeadingZeros, [&](Opcode op) {
      if (!has(op, type)) return;
      expect_elementwise(
          type, type, same_pairs(type), name_of(op),
          [&](TestProgram& p, Value x, Value) { return p.unary(op, x); },
          [&](std::uint64_t x, std::uint64_t y) { return host(op, type, x, y); });
    });
  }
}

TEST_F(NativeArithmetic, BinaryOps) {
  for (Type type : kAllTypes) {
    for_opcodes(Opcode::kAdd, Opcode::kRotateLeft, [&](Opcode op) {
      if (!has(op, type)) return;
      expect_elementwise(
          type, type, all_pairs(type), name_of(op),
          [&](TestProgram& p, Value x, Value y) { return p.binary(op, x, y); },
          [&](std::uint64_t x, std::uint64_t y) { return host(op, type, x, y); });
    });
  }
}

TEST_F(NativeArithmetic, ConstantsAsOperands) {
  for (Type type : kAllTypes) {
    for (std::uint64_t constant : edge_bits(type)) {
      for (Opcode op : {Opcode::kSubtract, Opcode::kMin, Opcode::kMax, Opcode::kMultiply,
                        Opcode::kShiftLeft, Opcode::kShiftRightArithmetic, Opcode::kDivide}) {
        if (!has(op, type)) continue;
        expect_elementwise(
            type, type, same_pairs(type), name_of(op) + " by a constant",
            [&](TestProgram& p, Value x, Value) {
              return p.binary(op, x, p.constant(type, constant));
            },
            [&](std::uint64_t x, std::uint64_t) { return host(op, type, x, constant); });
      }
    }
  }
}

constexpr Type kIntegers[] = {Type::kS8, Type::kS16, Type::kS32, Type::kS64,
                              Type::kU8, Type::kU16, Type::kU32, Type::kU64};

TEST_F(NativeArithmetic, RotationsByEachConstant) {
  for (const Type type : kIntegers) {
    const auto bits = static_cast<std::uint64_t>(8 * lower::width(type));
    for (std::uint64_t by = 0; by <= bits; by++) {
      expect_elementwise(
          type, type, same_pairs(type), "rotation by " + std::to_string(by),
          [&](TestProgram& p, Value x, Value) {
            return p.binary(Opcode::kRotateLeft, x, p.constant(type, by));
          },
          [&](std::uint64_t x, std::uint64_t) {
            const std::uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;
            const std::uint64_t lower = by % bits == 0 ? 0 : (x & all) >> (bits - by % bits);
            return (x << by % bits | lower) & all;
          });
    }
  }
}

TEST_F(NativeArithmetic, RotationsAreOneStepWhereTheTargetHasThem) {
  for (const Target* target : targets()) {
    for (const Type type : kIntegers) {
      for (const bool lanes : {false, true}) {
        TestProgram p;
        const Value x = p.argument(0), z = p.result(0), trips = p.index(64);
        const std::uint32_t loop =
            lanes ? p.begin_lanes(trips) : p.begin_for(p.index(0), trips, 1, {});
        const Value i = lanes ? p.index_of_lanes(loop) : p.index_of_for(loop);
        const Value a = p.load_at(type, x, i, lower::width(type));
        const Value turned =
            p.bit_xor(p.binary(Opcode::kShiftRightLogical, a, p.number(type, 5)),
                      p.binary(Opcode::kShiftLeft, a,
                               p.number(type, 8.0 * static_cast<double>(lower::width(type)) - 5)));
        p.store_at(turned, z, i, lower::width(type));
        lanes ? p.end_lanes() : p.end_for({});
        lower::Program program = p.finish();
        lower::remove_dead_code(program);
        const Steps made = steps(program, target);
        const TypeSet& has = lanes ? target->fused.rotations_of_lanes : target->fused.rotations;
        EXPECT_EQ(count(made, computes(Opcode::kRotateLeft)) > 0, has.has(type));
        EXPECT_EQ(count(made, computes(Opcode::kShiftLeft)) > 0, !has.has(type));
        EXPECT_EQ(count(made, computes(Opcode::kOr)) > 0, !has.has(type));
      }
    }
  }
}

TEST_F(NativeArithmetic, ComparisonsAndSelect) {
  for (Type type : kAllTypes) {
    for_opcodes(Opcode::kEqual, Opcode::kGreaterEqual, [&](Opcode op) {
      expect_elementwise(
          type, Type::kPred, all_pairs(type), name_of(op),
          [&](TestProgram& p, Value x, Value y) { return p.compare(op, x, y); },
          [&](std::uint64_t x, std::uint64_t y) { return host(op, type, x, y); });
      expect_elementwise(
          type, type, all_pairs(type), "select by " + name_of(op),
          [&](TestProgram& p, Value x, Value y) { return p.select(p.compare(op, x, y), x, y); },
          [&](std::uint64_t x, std::uint64_t y) { return host(op, type, x, y) != 0 ? x : y; });
    });
  }
}

TEST_F(NativeArithmetic, Conversions) {
  for (Type from : kAllTypes) {
    Pairs pairs = same_pairs(from);
    if (!lower::is_float(from) && lower::width(from) >= 4) {
      std::mt19937_64 random(7);
      for (int i = 0; i < 200; i++)
        pairs.a.push_back(random() >> (random() % 60) &
                          (lower::width(from) == 4 ? 0xffffffffu : ~0ull));
      pairs.b = pairs.a;
    }
    for (Type to : kAllTypes) {
      if (to == from) continue;
      expect_elementwise(
          from, to, pairs, "convert to " + std::string(lower::type_name(to)),
          [&](TestProgram& p, Value x, Value) { return p.convert(x, to); },
          [&](std::uint64_t x, std::uint64_t) {
            std::uint64_t out = 0;
            lower::for_type(from, [&]<class From>() {
              lower::for_type(to, [&]<class To>() {
                out = lower::to_bits(lower::converted<To>(lower::from_bits<From>(x)));
              });
            });
            return out;
          });
    }
  }
}

TEST_F(NativeArithmetic, Bitcasts) {
  constexpr Type kGroups[][3] = {{Type::kS8, Type::kU8, Type::kS8},
                                 {Type::kS16, Type::kU16, Type::kBF16},
                                 {Type::kU16, Type::kF16, Type::kS16},
                                 {Type::kS32, Type::kU32, Type::kF32},
                                 {Type::kS64, Type::kU64, Type::kF64}};
  for (const auto& group : kGroups) {
    for (Type from : group) {
      for (Type to : group) {
        if (from == to) continue;
        expect_elementwise(
            from, to, same_pairs(from), "bitcast to " + std::string(lower::type_name(to)),
            [&](TestProgram& p, Value x, Value) { return p.bitcast(x, to); },
            [&](std::uint64_t x, std::uint64_t) { return x; });
      }
    }
  }
}

TEST_F(NativeArithmetic, FusedProducts) {
  std::vector<std::pair<Type, Opcode>> cases;
  for (const Opcode code : {Opcode::kFma, Opcode::kFnma, Opcode::kFms}) {
    for (const Type type : {Type::kF16, Type::kBF16, Type::kF32, Type::kF64})
      cases.emplace_back(type, code);
  }
  using V = Value;
  using B = std::uint64_t;
  for (const auto& [type, code] : cases) {
    const Pairs pairs = all_pairs(type);
    auto fused = [&, type = type, code = code](B a, B b, B c) {
      B out = 0;
      lower::for_type(type, [&]<class T>() {
        if constexpr (lower::is_float_type<T>) {
          // The signs are the operands', and the host rounds once too.
          using C = lower::Computed<T>;
          const auto value = [](B bits) { return static_cast<C>(lower::from_bits<T>(bits)); };
          const C sign_of_product = code == Opcode::kFnma ? -1 : 1;
          const C sign_of_sum = code == Opcode::kFms ? -1 : 1;
          out = lower::to_bits(
              T(std::fma(sign_of_product * value(a), value(b), sign_of_sum * value(c))));
        }
      });
      return out;
    };
    auto make = [code = code](TestProgram& p, V a, V b, V c) { return p.fused(code, a, b, c); };
    B c = 0;
    lower::for_type(type, [&]<class T>() {
      if constexpr (lower::is_float_type<T>) c = lower::to_bits(T(lower::Computed<T>(0.75)));
    });
    auto check = [&, type = type, code = code](const std::string& what, const Element& element,
                                               const Expected& expected) {
      expect_elementwise(type, type, pairs, std::string(lower::info(code).name) + " " + what,
                         element, expected);
    };
    check(
        "x*y+x", [&](TestProgram& p, V x, V y) { return make(p, x, y, x); },
        [&](B x, B y) { return fused(x, y, x); });
    check(
        "x*x+y", [&](TestProgram& p, V x, V y) { return make(p, x, x, y); },
        [&](B x, B y) { return fused(x, x, y); });
    check(
        "y*x+(x*x+x)", [&](TestProgram& p, V x, V y) { return make(p, y, x, make(p, x, x, x)); },
        [&](B x, B y) { return fused(y, x, fused(x, x, x)); });
    check(
        "x*c+y",
        [&, type = type](TestProgram& p, V x, V y) { return make(p, x, p.constant(type, c), y); },
        [&](B x, B y) { return fused(x, c, y); });
    check(
        "x*y+c",
        [&, type = type](TestProgram& p, V x, V y) { return make(p, x, y, p.constant(type, c)); },
        [&](B x, B y) { return fused(x, y, c); });
  }
}

}  // namespace
}  // namespace rondo::native_code
