// What programs do with small dtypes: copies of elements, arithmetic, bits, loops, derivatives.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/vectors.h"
#include "rondo/rondo.h"
#include "support/elementwise_records.h"

namespace rondo {
namespace {

using namespace testing;

constexpr DType kSmall[] = {DType::kS2,         DType::kU2,       DType::kS4,
                            DType::kU4,         DType::kF4E2M1FN, DType::kF8E3M4,
                            DType::kF8E4M3,     DType::kF8E4M3FN, DType::kF8E4M3B11FNUZ,
                            DType::kF8E4M3FNUZ, DType::kF8E5M2,   DType::kF8E5M2FNUZ};

/// The first `count` of all numbers of a dtype, again and again.
Literal small_type_numbers(DType dtype, const Shape& shape, int step = 1) {
  Literal bytes = Literal::uninitialized({DType::kS8, shape});
  const int count = 1 << bit_width(dtype);
  for (std::int64_t i = 0; i < bytes.elements(); i++) {
    const int code = static_cast<int>(i) * step % count;
    bytes.mutable_bytes()[i] =
        static_cast<std::byte>(is_signed_integer(dtype) && code >= count / 2 ? code - count : code);
  }
  return bytes.reinterpreted({dtype, shape});
}

void expect_same_bytes(const Tensor& got, const Tensor& bytes) {
  const Literal a = got.eval(), b = bytes.eval();
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_TRUE(a.reinterpreted(b.type()).identical(b)) << a << " and " << b;
}

TEST(SmallTypes, AreCopiedAsTheirBytes) {
  using Copy = std::function<Tensor(Tensor)>;
  const Tensor places = constant({2, 0, 2});
  const std::vector<Copy> copies{
      [](Tensor x) {
        return reshape(x, {2, 12});
      },
      [](Tensor x) {
        return transpose(x, {1, 0});
      },
      [](Tensor x) {
        return slice(x, {1, 0}, {4, 5}, {2, 3});
      },
      [](Tensor x) {
        return concatenate({x, x}, 1);
      },
      [](Tensor x) {
        return broadcast_in_dim(x, {2, 4, 6}, {1, 2});
      },
      [](Tensor x) { return reverse(x, {0}); },
      [&](Tensor x) { return take(x, places); },
      [](Tensor x) {
        return dynamic_slice(x, {constant(1), constant(2)}, {2, 2});
      },
      [](Tensor x) {
        return dynamic_update_slice(x, slice(x, {0, 0}, {1, 2}), {constant(3), constant(4)});
      },
      [](Tensor x) {
        return where(iota(s32({4, 6}), 1) < 3, x, reverse(x, {1}));
      },
      [](Tensor x) {
        return while_loop([](Tensor i, Tensor) { return i < 3; },
                          [](Tensor i, Tensor c) { return std::pair(i + 1, reverse(c, {1})); },
                          std::pair(constant(0), x))
            .second;
      },
  };
  for (const DType dtype : kSmall) {
    SCOPED_TRACE(dtype_name(dtype));
    const Literal x = small_type_numbers(dtype, {4, 6}, 5);
    const Literal bytes =
        x.reinterpreted({is_signed_integer(dtype) ? DType::kS8 : DType::kU8, {4, 6}});
    for (const Copy& copy : copies) expect_same_bytes(copy(x), copy(bytes));
  }
  const Tensor padded = pad(convert(vec<float>({1, 2}), DType::kF8E5M2), -4, {1}, {1});
  expect_vec<float>(convert(padded, DType::kF32), {-4, 1, 2, -4});
}

/// The integer of the low bits.
int wrapped(std::int64_t value, DType dtype) {
  const std::int64_t count = std::int64_t{1} << bit_width(dtype);
  const std::int64_t low = ((value % count) + count) % count;
  return static_cast<int>(is_signed_integer(dtype) && low >= count / 2 ? low - count : low);
}

TEST(SmallTypes, IntegersWrapAtEachOp) {
  for (const DType dtype : {DType::kS2, DType::kU2, DType::kS4, DType::kU4}) {
    SCOPED_TRACE(dtype_name(dtype));
    const auto width = static_cast<int>(bit_width(dtype));
    const int count = 1 << width;
    std::vector<int> left, right;
    for (int i = 0; i < count * count; i++) {
      left.push_back(wrapped(i / count, dtype));
      right.push_back(wrapped(i, dtype));
    }
    const Tensor a = convert(vec(left), dtype), b = convert(vec(right), dtype);
    const auto expect = [&](const char* what, const Tensor& got, auto&& f) {
      ASSERT_EQ(got.dtype(), dtype) << what;
      std::vector<int> want;
      for (std::size_t i = 0; i < left.size(); i++)
        want.push_back(wrapped(f(left[i], right[i]), dtype));
      const Literal value = convert(got, DType::kS32).eval();
      for (std::size_t i = 0; i < want.size(); i++)
        EXPECT_EQ(value.data<int>()[i], want[i]) << what << " of " << left[i] << ", " << right[i];
    };
    const auto bits = [&](int x) { return x & (count - 1); };
    expect("add", a + b, [](int x, int y) { return x + y; });
    expect("subtract", a - b, [](int x, int y) { return x - y; });
    expect("multiply", a * b, [](int x, int y) { return x * y; });
    expect("divide", a / b, [](int x, int y) { return y == 0 ? -1 : x / y; });
    expect("remainder", a % b, [](int x, int y) { return y == 0 ? x : x % y; });
    expect("and", a & b, [](int x, int y) { return x & y; });
    expect("or", a | b, [](int x, int y) { return x | y; });
    expect("xor", a ^ b, [](int x, int y) { return x ^ y; });
    expect("not", ~a, [](int x, int) { return ~x; });
    expect("minimum", minimum(a, b), [](int x, int y) { return std::min(x, y); });
    expect("maximum", maximum(a, b), [](int x, int y) { return std::max(x, y); });
    expect("negate", -a, [](int x, int) { return -x; });
    expect("shift_left", shift_left(a, b),
           [&](int x, int y) { return bits(y) >= width ? 0 : x << bits(y); });
    expect("shift_right_logical", shift_right_logical(a, b),
           [&](int x, int y) { return bits(y) >= width ? 0 : bits(x) >> bits(y); });
    expect("shift_right_arithmetic", shift_right_arithmetic(a, b), [&](int x, int y) {
      const int by = std::min(bits(y), width - 1);  // the sign is the upper bit, also of unsigned
      return wrapped(x, width == 2 ? DType::kS2 : DType::kS4) >> by;
    });
    expect("popcount", popcount(a),
           [&](int x, int) { return std::popcount(static_cast<unsigned>(bits(x))); });
    expect("count_leading_zeros", count_leading_zeros(a), [&](int x, int) {
      return std::countl_zero(static_cast<unsigned>(bits(x))) - (32 - width);
    });
    expect("select", where(a < b, a, b), [](int x, int y) { return x < y ? x : y; });
    const Literal counted = convert(iota({dtype, {20}}, 0), DType::kS32).eval();
    for (int i = 0; i < 20; i++)
      EXPECT_EQ(counted.data<int>()[static_cast<std::size_t>(i)], wrapped(i, dtype));
    expect_scalar(convert(sum(convert(vec<int>({3, 3, 3, 2}), dtype)), DType::kS32),
                  wrapped(wrapped(3, dtype) * 3 + 2, dtype));
    const Tensor squares = dot_general(reshape(a, {count, count}), reshape(b, {count, count}),
                                       {.lhs_contracting = {1}, .rhs_contracting = {0}});
    EXPECT_EQ(squares.dtype(), dtype);
    int product = 0;
    for (int k = 0; k < count; k++) product += wrapped(1, dtype) * wrapped(1, dtype);
    expect_scalar(convert(squares[1][1], DType::kS32), wrapped(product, dtype));
  }
}

// Each op is that of the wider dtype, rounded once.
TEST(SmallTypes, FloatsAreComputedInF32AndRounded) {
  for (const DType dtype : {DType::kF4E2M1FN, DType::kF8E4M3FN, DType::kF8E5M2FNUZ}) {
    SCOPED_TRACE(dtype_name(dtype));
    const TensorType type{dtype, {64}};
    std::vector<std::string> names;
    const Function f = trace(
        [&](Tensor a, Tensor b, Tensor c) {
          std::vector<Tensor> results;
          for (int arity = 1; arity <= 3; arity++) {
            for (const ir::OpDef* op : elementwise_ops(arity)) {
              if (!takes(*op, dtype) || !op->runs()) continue;
              const auto args = [&](bool wide) {
                std::vector<Tensor> all;
                for (const Tensor& x : {a, b, c}) {
                  if (all.size() < static_cast<std::size_t>(arity))
                    all.push_back(wide ? convert(x, DType::kF32) : x);
                }
                return all;
              };
              const Tensor small = apply_op(*op, args(false)), wide = apply_op(*op, args(true));
              names.emplace_back(op->name);
              results.push_back(small);
              results.push_back(convert(wide, small.dtype()));
            }
          }
          return results;
        },
        type, type, type);
    ASSERT_GT(names.size(), 30u);
    const std::vector<Literal> results =
        compile(f).run({small_type_numbers(dtype, {64}, 3), small_type_numbers(dtype, {64}, 5),
                        small_type_numbers(dtype, {64}, 7)});
    for (std::size_t i = 0; i < names.size(); i++)
      EXPECT_TRUE(results[2 * i].identical(results[2 * i + 1])) << names[i];
  }
  // By hand: 448 is the greatest number of f8e4m3fn, 57344 that of f8e5m2.
  const Tensor x = convert(vec<float>({448, 240, 1.125f}), DType::kF8E4M3FN);
  expect_vec<float>(convert(x + x, DType::kF32), {kNan, kNan, 2.25f});
  expect_vec<float>(convert(x * x, DType::kF32), {kNan, kNan, 1.25f});
  const Tensor y = convert(vec<float>({57344, 1.25f}), DType::kF8E5M2);
  expect_vec<float>(convert(y * 1.5, DType::kF32), {kInf, 2});
  expect_vec<bool>(eq(x, x), {true, true, true});
  expect_vec<float>(
      convert(sort(convert(vec<float>({3, -1, kNan, -2, 0.5f}), DType::kF8E5M2)), DType::kF32),
      {-2, -1, 0.5f, 3, kNan});
}

TEST(SmallTypes, LoopsRoundAtEachTrip) {
  const Tensor x = convert(constant(1.0f), DType::kF8E4M3FN);
  // 1, 1.125, 1.25, ...: a step of 1/16 is half of the grain between 1 and 2, and rounds to even.
  const auto add = [](float step) { return [step](Tensor, Tensor c) { return c + step; }; };
  expect_scalar(convert(fori_loop(0, 10, add(0.0625f), x), DType::kF32), 1.0f);
  expect_scalar(convert(fori_loop(0, 10, add(0.125f), x), DType::kF32), 2.0f);
  const auto [last, all] = scan([](Tensor c, Tensor s) { return std::pair(c + s, c); }, x,
                                convert(vec<float>({1, 2, 4}), DType::kF8E4M3FN));
  expect_scalar(convert(last, DType::kF32), 8.0f);
  expect_vec<float>(convert(all, DType::kF32), {1, 2, 4});
  const Tensor both = vmap([](Tensor a, Tensor n) {
    return fori_loop(
        0, n, [](Tensor, Tensor c) { return c + c; }, a);
  })(convert(vec<float>({1, 3}), DType::kF8E5M2), vec<int>({3, 2}));
  expect_vec<float>(convert(both, DType::kF32), {8, 12});
}

TEST(SmallTypes, DerivativesPassConversions) {
  const auto f = [](Tensor x) {
    const Tensor small = convert(x, DType::kF8E5M2);
    return sum(convert(small * small, DType::kF32));
  };
  expect_vec<float>(grad(f)(vec<float>({1, 1.3f, -3})), {2, 2.5f, -6});
}

TEST(SmallTypes, BitsAreGroupedWithTheLowestFirst) {
  const Tensor bytes = vec<std::uint8_t>({0x21, 0xf8});
  const Tensor nibbles = bitcast_convert(bytes, DType::kU4);
  ASSERT_EQ(nibbles.type(), u4({2, 2}));
  expect_values<int>(convert(nibbles, DType::kS32), {2, 2}, {1, 2, 8, 15});
  expect_values<int>(convert(bitcast_convert(bytes, DType::kS4), DType::kS32), {2, 2},
                     {1, 2, -8, -1});
  expect_values<int>(convert(bitcast_convert(bytes, DType::kU2), DType::kS32), {2, 4},
                     {1, 0, 2, 0, 0, 2, 3, 3});
  expect_vec<std::uint8_t>(bitcast_convert(nibbles, DType::kU8), {0x21, 0xf8});
  expect_vec<std::int8_t>(bitcast_convert(nibbles, DType::kS8), {0x21, -8});
  const Tensor eight = convert(iota(s32({8}), 0), DType::kU4);
  expect_scalar<std::uint32_t>(bitcast_convert(eight, DType::kU32), 0x76543210);
  expect_values<int>(convert(bitcast_convert(constant(0x76543210), DType::kU4), DType::kS32), {8},
                     {0, 1, 2, 3, 4, 5, 6, 7});
  expect_values<int>(
      convert(bitcast_convert(bitcast_convert(nibbles, DType::kS2), DType::kU4), DType::kS32),
      {2, 2}, {1, 2, 8, 15});
  const Tensor parts = bitcast_convert(constant(1.0f), DType::kF8E4M3FN);
  ASSERT_EQ(parts.type(), f8e4m3fn({4}));
  expect_scalar(bitcast_convert(parts, DType::kF32), 1.0f);
  for (const DType dtype : kSmall) {
    if (bit_width(dtype) != 8) continue;
    const Literal x = small_type_numbers(dtype, {256});
    const Tensor same = bitcast_convert(x, DType::kU8);
    expect_same_bytes(x, same);
    EXPECT_TRUE(bitcast_convert(same, dtype).eval().identical(x));
    EXPECT_TRUE(bitcast_convert(bitcast_convert(x, DType::kS8), dtype).eval().identical(x));
  }
  // Two widths that are equal, both less than a byte.
  expect_values<int>(convert(bitcast_convert(nibbles, DType::kS4), DType::kS32), {2, 2},
                     {1, 2, -8, -1});
  expect_error([&] { bitcast_convert(eight, DType::kU16); }, {"4 elements make one"});
}

TEST(SmallTypes, AreReadAndWrittenAsText) {
  for (const DType dtype : kSmall) {
    SCOPED_TRACE(dtype_name(dtype));
    for (const std::int64_t size : {std::int64_t{1} << bit_width(dtype), std::int64_t{300}}) {
      const Literal x = small_type_numbers(dtype, {size});
      const Function f = trace([&](Tensor y) { return std::pair(Tensor(x) + y, Tensor(x)); },
                               TensorType{dtype, {size}});
      const auto want = compile(f).run({x});
      for (const Function& read :
           {parse_stablehlo_text(to_stablehlo_text(f)), parse_hlo_text(to_hlo_text(f))}) {
        const auto got = compile(read).run({x});
        ASSERT_EQ(got.size(), 2u);
        EXPECT_TRUE(got[0].identical(want[0]));
        for (std::int64_t i = 0; i < size; i++) {
          const auto a = got[1].bytes()[i], b = x.bytes()[i];
          if (a != b) ADD_FAILURE() << i << ": " << int(a) << " for " << int(b);
        }
      }
    }
  }
  const Literal wanted = compile(parse_stablehlo_text(R"(
    func.func @main() -> (tensor<4xi4>, tensor<2xf8E4M3FN>) {
      %0 = stablehlo.constant dense<"0x070809FF"> : tensor<4xi4>
      %1 = stablehlo.constant dense<[0x7F, 1.5]> : tensor<2xf8E4M3FN>
      return %0, %1 : tensor<4xi4>, tensor<2xf8E4M3FN>
    })"))
                             .run({})[0];
  expect_vec<int>(convert(wanted, DType::kS32), {7, -8, -7, -1});
}

TEST(SmallTypes, ProductsOfF8HaveThePreferredType) {
  const Function f = parse_stablehlo_text(R"(
    func.func @main(%a: tensor<1x2xf8E4M3FN>, %b: tensor<2x1xf8E4M3FN>) -> tensor<1x1xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<1x2xf8E4M3FN>, tensor<2x1xf8E4M3FN>) -> tensor<1x1xf32>
      return %0 : tensor<1x1xf32>
    })");
  const auto small = [](std::vector<float> v, const Shape& shape) {
    return convert(Tensor(Literal::from(v, shape)), DType::kF8E4M3FN).eval();
  };
  const Literal y = compile(f).run({small({448, 1.125f}, {1, 2}), small({448, 3}, {2, 1})})[0];
  EXPECT_EQ(y.item<float>(), 448.0f * 448 + 3.375f);
}

TEST(SmallTypes, SayWhatTheyCannot) {
  expect_error(
      [] {
        (void)Literal::from<std::int8_t>({1, 9}).reinterpreted(s4({2}));
      },
      {"byte 1 is 9"});
  expect_error([] { (void)(convert(vec<float>({1}), DType::kF8E4M3FN) + 1e6); },
               {"is out of range"});
  expect_error([] { (void)random::uniform(random::key(0), f8e4m3fn({2})); }, {"Draw f32"});
  const Tensor few = convert(constant(3), DType::kS4);
  expect_error(
      [&] {
        (void)fori_loop(
            0, few, [](Tensor, Tensor c) { return c; }, Tensor(1));
      },
      {"bounds"});
}

}  // namespace
}  // namespace rondo
