#include "rondo/reflect.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "sixty_four.h"

namespace {

using rondo::field_count;
using rondo::field_name;
using rondo::fields_of;
using rondo::Tensor;

template <class T>
std::vector<std::string> names() {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < field_count<T>(); ++i) result.emplace_back(field_name<T>(i));
  return result;
}

using Names = std::vector<std::string>;

enum class Direction { kForward, kBackward };

struct Attributes {
  std::vector<std::int64_t> dims;
  bool reverse = false;
  Direction direction = Direction::kForward;
  std::string name;
  double epsilon = 1e-6;
  std::array<std::int64_t, 3> window{};
  std::optional<std::int64_t> length;
  std::function<void()> callback;
  rondo::TensorType type;
  rondo::Literal value;
  std::vector<bool> flags;
  std::pair<int, int> padding;
  std::tuple<Tensor> single;
  std::shared_ptr<const int> shared;
  std::unique_ptr<int> owned;
  std::string_view view;
};

TEST(Reflect, NamesTheFieldsOfAttributeStructs) {
  EXPECT_EQ(names<Attributes>(), (Names{"dims", "reverse", "direction", "name", "epsilon", "window",
                                        "length", "callback", "type", "value", "flags", "padding",
                                        "single", "shared", "owned", "view"}));
}

TEST(Reflect, GivesReferencesToTheFields) {
  Attributes attributes;
  static_assert(std::tuple_size_v<decltype(fields_of(attributes))> == 16);
  std::get<0>(fields_of(attributes)) = {1, 2};
  std::get<3>(fields_of(attributes)) = "scan";
  std::get<5>(fields_of(attributes))[2] = 7;
  EXPECT_EQ(attributes.dims, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(attributes.name, "scan");
  EXPECT_EQ(attributes.window, (std::array<std::int64_t, 3>{0, 0, 7}));
  EXPECT_EQ(&std::get<6>(fields_of(attributes)), &attributes.length);
}

struct Mixed {
  int count;
  const double scale;
  bool on;
};

TEST(Reflect, KeepsConst) {
  Mixed mixed{1, 2.5, true};
  static_assert(std::is_same_v<decltype(fields_of(mixed)), std::tuple<int&, const double&, bool&>>);
  const Mixed& fixed = mixed;
  static_assert(std::is_same_v<decltype(fields_of(fixed)),
                               std::tuple<const int&, const double&, const bool&>>);
  EXPECT_EQ(&std::get<0>(fields_of(fixed)), &mixed.count);
  EXPECT_EQ(names<const Mixed>(), (Names{"count", "scale", "on"}));
}

struct OneTensor {
  Tensor slab = 0.0f;
};
struct OneArray {
  std::array<Tensor, 3> layers;
};
struct OneStruct {
  OneArray inner;
};
struct Nothing {};
struct WithArrayInFront {
  std::array<int, 2> first;
  std::array<std::array<int, 2>, 2> second;
  Nothing nothing;
  OneStruct last;
};

TEST(Reflect, IsNotMisledByBraceElisionOrDefaults) {
  EXPECT_EQ(names<OneTensor>(), Names{"slab"});
  EXPECT_EQ(names<OneArray>(), Names{"layers"});
  EXPECT_EQ(names<OneStruct>(), Names{"inner"});
  EXPECT_EQ(names<WithArrayInFront>(), (Names{"first", "second", "nothing", "last"}));
}

TEST(Reflect, SeesNoFieldsInAnEmptyStruct) {
  Nothing nothing;
  static_assert(field_count<Nothing>() == 0);
  static_assert(std::is_same_v<decltype(fields_of(nothing)), std::tuple<>>);
  EXPECT_EQ(field_name<Nothing>(0), "");
}

TEST(Reflect, NamesFieldsOfLocalStructs) {
  struct Local {
    double water_2;
    std::map<std::string, Nothing> _tanks;
  };
  EXPECT_EQ(names<Local>(), (Names{"water_2", "_tanks"}));
  const auto in_lambda = [](auto any) {
    struct Inner {
      decltype(any) held;
      int value;
    };
    return names<Inner>();
  };
  EXPECT_EQ(in_lambda(1), (Names{"held", "value"}));
  EXPECT_EQ(in_lambda(Local{}), (Names{"held", "value"}));
}

template <class T>
struct Both {
  T left, right;
};

TEST(Reflect, NamesFieldsOfTemplatesAndMovedOnlyTypes) {
  EXPECT_EQ((names<Both<std::pair<int, Both<char>>>>()), (Names{"left", "right"}));
  EXPECT_EQ((names<Both<std::unique_ptr<Mixed>>>()), (Names{"left", "right"}));
}

struct Recursive {
  double value;
  std::vector<Recursive> children;
};

TEST(Reflect, NamesFieldsOfRecursiveStructs) {
  EXPECT_EQ(names<Recursive>(), (Names{"value", "children"}));
}

TEST(Reflect, IsUsableAtCompileTime) {
  static_assert(field_count<Mixed>() == 3);
  static_assert(field_name<Mixed, 1>() == "scale");
  static_assert(field_name<Mixed>(2) == "on");
  static_assert(field_name<Mixed>(3).empty());
  constexpr Mixed mixed{4, 2.5, true};
  static_assert(std::get<0>(fields_of(mixed)) == 4);
}

TEST(Reflect, TakesApartUpToSixtyFourFields) {
  static_assert(field_count<SixtyFour<double>>() == 64);
  SixtyFour<double> wide;
  EXPECT_EQ((field_name<SixtyFour<double>, 0>()), "a0");
  EXPECT_EQ((field_name<SixtyFour<double>, 9>()), "b1");
  EXPECT_EQ((field_name<SixtyFour<double>, 63>()), "h7");
  EXPECT_EQ(&std::get<63>(fields_of(wide)), &wide.h7);
  EXPECT_EQ(&std::get<31>(fields_of(wide)), &wide.d7);
}

struct Eight {
  int a, b, c, d, e, f, g, h;
};
struct Nine {
  int a, b, c, d, e, f, g, h, i;
};

TEST(Reflect, CountsAroundARowOfEight) {
  EXPECT_EQ(names<Eight>(), (Names{"a", "b", "c", "d", "e", "f", "g", "h"}));
  EXPECT_EQ(names<Nine>(), (Names{"a", "b", "c", "d", "e", "f", "g", "h", "i"}));
}

// Every arity has a separate structured binding, which also fits a std::array of that size.
template <std::size_t N>
void expect_arity_in_order() {
  std::array<std::size_t, N> numbers;
  for (std::size_t i = 0; i < N; ++i) numbers[i] = i;
  const auto listed = rondo::detail::FieldArity<N>::apply(
      [](auto&... fields) { return std::vector<std::size_t>{fields...}; }, numbers);
  EXPECT_EQ(listed, std::vector<std::size_t>(numbers.begin(), numbers.end()));
  using Types = decltype(rondo::detail::FieldArity<N>::types(numbers));
  const auto count = []<class... Ts>(rondo::detail::TypeList<Ts...>) { return sizeof...(Ts); };
  EXPECT_EQ(count(Types()), N);
}

TEST(Reflect, BindsEveryArityInOrder) {
  []<std::size_t... I>(std::index_sequence<I...>) { (expect_arity_in_order<I + 1>(), ...); }
  (std::make_index_sequence<64>());
}

struct Based : Mixed {
  int more;
};
struct EmptyBased : Nothing {
  int more;
};
struct Constructed {
  Constructed() {}
  int value = 0;
};
struct Polymorphic {
  virtual ~Polymorphic() = default;
};
struct Referring {
  int& first;
  int second;
};
struct ReferringLater {
  int first;
  int& second;
};
struct ConstReferring {
  int first;
  const int& second;
};
struct TooWide {
  SixtyFour<int> most;
  int a, b;
};
struct SixtyFive {
  int a[1];
  int b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4, d5, d6,
      d7, e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2, f3, f4, f5, f6, f7, g0, g1, g2, g3, g4, g5,
      g6, g7, h0, h1, h2, h3, h4, h5, h6, h7, i0, i1, i2, i3, i4, i5, i6, i7;
};
union Either {
  int a;
  float b;
};

template <class T>
constexpr rondo::detail::Reflection verdict = rondo::detail::kReflection<T>;

TEST(Reflect, KnowsWhatItCannotTakeApart) {
  using rondo::detail::Reflection;
  EXPECT_EQ(verdict<Based>, Reflection::kBaseClass);
  EXPECT_EQ(verdict<EmptyBased>, Reflection::kBaseClass);
  EXPECT_EQ(verdict<Constructed>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<Polymorphic>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<Either>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<int>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<int*>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<std::string>, Reflection::kNotAnAggregate);
  EXPECT_EQ(verdict<Referring>, Reflection::kFieldWithoutDefault);
  EXPECT_EQ(verdict<ReferringLater>, Reflection::kFieldWithoutDefault);
  EXPECT_EQ(verdict<SixtyFive>, Reflection::kTooManyFields);
  EXPECT_EQ(verdict<TooWide>, Reflection::kYes);
  // g++ refuses to bind the reference to {}, clang does not.
  EXPECT_TRUE(verdict<ConstReferring> == Reflection::kFieldWithoutDefault ||
              verdict<ConstReferring> == Reflection::kReferenceField);
}

struct WithCArray {
  int table[3];
  bool last;
};

TEST(Reflect, CountsACArrayAsOneField) { EXPECT_EQ(names<WithCArray>(), (Names{"table", "last"})); }

}  // namespace
