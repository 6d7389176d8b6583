// Each op of the lower IR on each type, as C, gives the bits of lower/arithmetic.h at the edges.
#include "lower/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "c/file.h"
#include "lower/builder.h"
#include "lower/opcodes.h"
#include "support/run_c.h"

namespace rondo::testing {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;

constexpr Type kTypes[] = {Type::kPred, Type::kS8,  Type::kS16, Type::kS32, Type::kS64,
                           Type::kU8,   Type::kU16, Type::kU32, Type::kU64, Type::kF16,
                           Type::kBF16, Type::kF32, Type::kF64};

DType dtype_for(Type type) { return static_cast<DType>(type); }

/// Numbers at which ops differ between machines.
template <class T>
std::vector<T> edges() {
  if constexpr (lower::is_pred_type<T>) {
    return {false, true};
  } else if constexpr (lower::is_float_type<T>) {
    using C = lower::Computed<T>;
    std::vector<T> values;
    for (const double x :
         {0.0,     -0.0,   1.0,    -1.0,   0.5,          1.5,           2.5,          -2.5,
          3.7,     100.25, -77.75, 255.5,  2147483647.0, -2147483648.0, 4294967296.0, 9.3e18,
          -9.3e18, 1e-7,   6e-8,   -3e-39, 1e-45,        65504.0,       65520.0,      3.4e38})
      values.push_back(static_cast<T>(static_cast<C>(x)));
    values.push_back(static_cast<T>(std::numeric_limits<C>::infinity()));
    values.push_back(static_cast<T>(-std::numeric_limits<C>::infinity()));
    values.push_back(static_cast<T>(std::numeric_limits<C>::quiet_NaN()));
    return values;
  } else {
    using Limits = std::numeric_limits<T>;
    return {0,
            1,
            2,
            3,
            7,
            8,
            static_cast<T>(31),
            static_cast<T>(32),
            static_cast<T>(63),
            static_cast<T>(64),
            static_cast<T>(100),
            static_cast<T>(-1),
            static_cast<T>(-2),
            static_cast<T>(-100),
            Limits::min(),
            static_cast<T>(Limits::min() + 1),
            Limits::max(),
            static_cast<T>(Limits::max() - 1),
            static_cast<T>(Limits::max() / 2 + 1)};
  }
}

/// Adds two arrays, which hold all pairs.
template <class T>
void add_pairs(std::vector<Literal>& to) {
  const std::vector<T> values = edges<T>();
  const auto count = static_cast<std::int64_t>(values.size() * values.size());
  const TensorType type{rondo::dtype_of<T>, Shape({count})};
  Literal a = Literal::zeros(type), b = Literal::zeros(type);
  std::size_t at = 0;
  for (const T x : values) {
    for (const T y : values) {
      std::memcpy(a.mutable_bytes() + at * sizeof(T), &x, sizeof(T));
      std::memcpy(b.mutable_bytes() + at * sizeof(T), &y, sizeof(T));
      at++;
    }
  }
  to.push_back(a);
  to.push_back(b);
}

/// A program of one loop for each op, and what each has to give.
class Ops {
 public:
  Ops() {
    for (const Type type : kTypes) {
      lower::for_type(type, [&]<class T>() { add_pairs<T>(arguments_); });
    }
    for (std::uint32_t i = 0; i < arguments_.size(); i++)
      pointers_.push_back(
          builder_.buffer({lower::Storage::kArgument, i, 0, arguments_[i].type().bytes()}));
  }

  /// `write` makes the value of a lane from those of the arguments of `type`; `expected` its bits.
  void add(std::string what, Type type, Type to, const std::function<Value(Value, Value)>& write,
           const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& expected) {
    const auto first = static_cast<std::size_t>(
        2 * (std::find(std::begin(kTypes), std::end(kTypes), type) - std::begin(kTypes)));
    const Literal &a = arguments_[first], &b = arguments_[first + 1];
    const std::int64_t count = a.elements(), from = lower::width(type), width = lower::width(to);
    Literal want = Literal::zeros({dtype_for(to), Shape({count})});
    const Value out =
        builder_.buffer({lower::Storage::kResult, static_cast<std::uint32_t>(wanted_.size()), 0,
                         want.type().bytes()});
    const std::uint32_t loop =
        builder_.begin_for(builder_.index(0), builder_.index(count), 1, {}, lower::kNoLoop, count);
    const Value index = builder_.program().fors[loop].index;
    const auto load = [&](std::size_t i) {
      return builder_.load(type, {pointers_[i], 0, {{index, from}}});
    };
    const Value x = load(first), y = load(first + 1);
    builder_.store(write(x, y), {out, 0, {{index, width}}});
    builder_.end_for({});
    for (std::int64_t i = 0; i < count; i++) {
      std::uint64_t x_bits = 0, y_bits = 0;
      std::memcpy(&x_bits, a.bytes() + i * from, static_cast<std::size_t>(from));
      std::memcpy(&y_bits, b.bytes() + i * from, static_cast<std::size_t>(from));
      const std::uint64_t bits = expected(x_bits, y_bits);
      std::memcpy(want.mutable_bytes() + i * width, &bits, static_cast<std::size_t>(width));
    }
    wanted_.push_back(std::move(want));
    names_.push_back(std::move(what));
    types_.push_back(to);
  }

  void expect_same_in_c() {
    std::vector<c::Field> in, out;
    std::vector<TensorType> results;
    for (std::size_t i = 0; i < arguments_.size(); i++)
      in.push_back({"x" + std::to_string(i), arguments_[i].type(), "edges"});
    for (std::size_t i = 0; i < wanted_.size(); i++) {
      out.push_back({"y" + std::to_string(i), wanted_[i].type(), "results"});
      results.push_back(wanted_[i].type());
    }
    const c::File file = c::write(builder_.finish(), in, out,
                                  {.name = "program", .header = "program.h", .program = "A test."});
    const std::vector<Literal> got = run_file(file, arguments_, results);
    for (std::size_t i = 0; i < wanted_.size(); i++)
      EXPECT_EQ(differences(i, got[i]), 0) << names_[i];
  }

  lower::Builder& builder() { return builder_; }

 private:
  /// How many elements differ; NaNs are alike.
  int differences(std::size_t at, const Literal& got) const {
    return lower::for_type(types_[at], [&]<class T>() {
      int count = 0;
      for (std::int64_t i = 0; i < got.elements(); i++) {
        T x, y;
        std::memcpy(static_cast<void*>(&x), got.bytes() + i * std::int64_t{sizeof(T)}, sizeof(T));
        std::memcpy(static_cast<void*>(&y), wanted_[at].bytes() + i * std::int64_t{sizeof(T)},
                    sizeof(T));
        if constexpr (lower::is_float_type<T>) {
          using C = lower::Computed<T>;
          if (std::isnan(static_cast<C>(x)) && std::isnan(static_cast<C>(y))) continue;
        }
        count += lower::to_bits(x) != lower::to_bits(y) ? 1 : 0;
      }
      return count;
    });
  }

  lower::Builder builder_;
  std::vector<Literal> arguments_, wanted_;
  std::vector<Value> pointers_;
  std::vector<std::string> names_;
  std::vector<Type> types_;
};

std::string name_of(Opcode code, Type type) {
  return std::string(lower::info(code).name) + " of " + std::string(lower::type_name(type));
}

class ArithmeticInC : public InC {};

TEST_F(ArithmeticInC, EachOpOfEachTypeHasTheBitsOfTheReference) {
  Ops ops;
  const auto each_code = [&](auto&& visit) {
    for (int at = 0; at < static_cast<int>(Opcode::kBase); at++) visit(static_cast<Opcode>(at));
  };
  for (const Type type : kTypes) {
    lower::for_type(type, [&]<class T>() {
      each_code([&](Opcode code) {
        lower::for_unary(code, [&]<Opcode kCode>() {
          if constexpr (lower::has_unary<kCode, T>)
            ops.add(
                name_of(kCode, type), type, type,
                [&](Value a, Value) { return ops.builder().unary(kCode, a); },
                [](std::uint64_t a, std::uint64_t) {
                  return lower::to_bits(lower::unary<kCode, T>(lower::from_bits<T>(a)));
                });
        });
        lower::for_binary(code, [&]<Opcode kCode>() {
          if constexpr (lower::has_binary<kCode, T>)
            ops.add(
                name_of(kCode, type), type, type,
                [&](Value a, Value b) { return ops.builder().binary(kCode, a, b); },
                [](std::uint64_t a, std::uint64_t b) {
                  return lower::to_bits(
                      lower::binary<kCode, T>(lower::from_bits<T>(a), lower::from_bits<T>(b)));
                });
        });
        lower::for_compare(code, [&]<Opcode kCode>() {
          ops.add(
              name_of(kCode, type), type, Type::kPred,
              [&](Value a, Value b) { return ops.builder().compare(kCode, a, b); },
              [](std::uint64_t a, std::uint64_t b) {
                return std::uint64_t{
                    lower::compared<kCode, T>(lower::from_bits<T>(a), lower::from_bits<T>(b))};
              });
        });
        if constexpr (lower::is_float_type<T>) {
          lower::for_fused(code, [&]<Opcode kCode>() {
            ops.add(
                name_of(kCode, type), type, type,
                [&](Value a, Value b) { return ops.builder().fused(kCode, a, b, a); },
                [](std::uint64_t a, std::uint64_t b) {
                  const T x = lower::from_bits<T>(a), y = lower::from_bits<T>(b);
                  return lower::to_bits(lower::fused<kCode, T>(x, y, x));
                });
          });
        }
      });
    });
  }
  ops.expect_same_in_c();
}

TEST_F(ArithmeticInC, EachConversionHasTheBitsOfTheReference) {
  Ops ops;
  for (const Type from : kTypes) {
    for (const Type to : kTypes) {
      if (from == to) continue;
      lower::for_type(from, [&]<class From>() {
        lower::for_type(to, [&]<class To>() {
          ops.add(
              name_of(Opcode::kConvert, from) + " to " + std::string(lower::type_name(to)), from,
              to, [&](Value a, Value) { return ops.builder().convert(a, to); },
              [](std::uint64_t a, std::uint64_t) {
                return lower::to_bits(lower::converted<To>(lower::from_bits<From>(a)));
              });
          if (lower::width(from) != lower::width(to) || from == Type::kPred || to == Type::kPred)
            return;
          ops.add(
              name_of(Opcode::kBitcast, from) + " to " + std::string(lower::type_name(to)), from,
              to, [&](Value a, Value) { return ops.builder().bitcast(a, to); },
              [](std::uint64_t a, std::uint64_t) { return a; });
        });
      });
    }
  }
  ops.expect_same_in_c();
}

}  // namespace
}  // namespace rondo::testing
