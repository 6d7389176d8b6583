// Compile-time reflection of plain aggregates: the number of their fields, names and references.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rondo::detail {

inline constexpr std::size_t kMaxFields = 64;

template <class... Ts>
struct TypeList {};

// Converts to every base class of T and to nothing else, so only a struct that has a base can be
// initialised from it.
template <class T>
struct BaseProbe {
  template <class Base>
  requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>) operator Base() const;
};

// FieldArity<N> handles structs of exactly N fields. C++20 has no pack in a structured binding, so
// the N names must be spelled out; the macros below do that, row by row in octal, and are undefined
// again.
//   initializes<T>  T has at least N fields. An empty brace pair never initializes more than one
//                   field, whatever brace elision or converting constructors a field's type has.
//   types(object)   the declared types of the fields as a TypeList.
//   apply(f, object) f(field...) with lvalues of the fields.
template <std::size_t N>
struct FieldArity;

template <>
struct FieldArity<0> {
  template <class T>
  static constexpr bool initializes = requires {
    T{};
  };
  template <class T>
  static constexpr TypeList<> types(T&) {
    return {};
  }
  template <class Visitor, class T>
  static constexpr decltype(auto) apply(Visitor&& visitor, T&) {
    return visitor();
  }
};

#define RONDO_ROW_1(X, r) X(r##0)
#define RONDO_ROW_2(X, r) RONDO_ROW_1(X, r), X(r##1)
#define RONDO_ROW_3(X, r) RONDO_ROW_2(X, r), X(r##2)
#define RONDO_ROW_4(X, r) RONDO_ROW_3(X, r), X(r##3)
#define RONDO_ROW_5(X, r) RONDO_ROW_4(X, r), X(r##4)
#define RONDO_ROW_6(X, r) RONDO_ROW_5(X, r), X(r##5)
#define RONDO_ROW_7(X, r) RONDO_ROW_6(X, r), X(r##6)
#define RONDO_ROW_8(X, r) RONDO_ROW_7(X, r), X(r##7)
#define RONDO_ABOVE_0(X)
#define RONDO_ABOVE_1(X) RONDO_ROW_8(X, 0),
#define RONDO_ABOVE_2(X) RONDO_ABOVE_1(X) RONDO_ROW_8(X, 1),
#define RONDO_ABOVE_3(X) RONDO_ABOVE_2(X) RONDO_ROW_8(X, 2),
#define RONDO_ABOVE_4(X) RONDO_ABOVE_3(X) RONDO_ROW_8(X, 3),
#define RONDO_ABOVE_5(X) RONDO_ABOVE_4(X) RONDO_ROW_8(X, 4),
#define RONDO_ABOVE_6(X) RONDO_ABOVE_5(X) RONDO_ROW_8(X, 5),
#define RONDO_ABOVE_7(X) RONDO_ABOVE_6(X) RONDO_ROW_8(X, 6),
#define RONDO_ABOVE_8(X) RONDO_ABOVE_7(X) RONDO_ROW_8(X, 7),
#define RONDO_LIST(X, r, n) RONDO_ABOVE_##r(X) RONDO_ROW_##n(X, r)
#define RONDO_BRACES(i) \
  {}
#define RONDO_NAME(i) f##i
#define RONDO_DECLARED(i) decltype(f##i)
#define RONDO_ARITY(r, n)                                                 \
  template <>                                                             \
  struct FieldArity<8 * r + n> {                                          \
    template <class T>                                                    \
    static constexpr bool initializes = requires {                        \
      T{RONDO_LIST(RONDO_BRACES, r, n)};                                  \
    };                                                                    \
    template <class T>                                                    \
    static constexpr auto types(T& object) {                              \
      [[maybe_unused]] auto& [RONDO_LIST(RONDO_NAME, r, n)] = object;     \
      return TypeList<RONDO_LIST(RONDO_DECLARED, r, n)>{};                \
    }                                                                     \
    template <class Visitor, class T>                                     \
    static constexpr decltype(auto) apply(Visitor&& visitor, T& object) { \
      auto& [RONDO_LIST(RONDO_NAME, r, n)] = object;                      \
      return visitor(RONDO_LIST(RONDO_NAME, r, n));                       \
    }                                                                     \
  };
#define RONDO_ARITIES(r) \
  RONDO_ARITY(r, 1)      \
  RONDO_ARITY(r, 2)      \
  RONDO_ARITY(r, 3)      \
  RONDO_ARITY(r, 4) RONDO_ARITY(r, 5) RONDO_ARITY(r, 6) RONDO_ARITY(r, 7) RONDO_ARITY(r, 8)
RONDO_ARITIES(0)
RONDO_ARITIES(1)
RONDO_ARITIES(2)
RONDO_ARITIES(3)
RONDO_ARITIES(4)
RONDO_ARITIES(5)
RONDO_ARITIES(6)
RONDO_ARITIES(7)
RONDO_ARITY(8, 1)  // only to detect that a struct has too many
#undef RONDO_ROW_1
#undef RONDO_ROW_2
#undef RONDO_ROW_3
#undef RONDO_ROW_4
#undef RONDO_ROW_5
#undef RONDO_ROW_6
#undef RONDO_ROW_7
#undef RONDO_ROW_8
#undef RONDO_ABOVE_0
#undef RONDO_ABOVE_1
#undef RONDO_ABOVE_2
#undef RONDO_ABOVE_3
#undef RONDO_ABOVE_4
#undef RONDO_ABOVE_5
#undef RONDO_ABOVE_6
#undef RONDO_ABOVE_7
#undef RONDO_ABOVE_8
#undef RONDO_LIST
#undef RONDO_BRACES
#undef RONDO_NAME
#undef RONDO_DECLARED
#undef RONDO_ARITY
#undef RONDO_ARITIES

template <class T, std::size_t N>
inline constexpr bool kHasFields = FieldArity<N>::template initializes<T>;

// Bisects between `Low` (T has that many fields) and `High` (it does not).
template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t count_fields() {
  if constexpr (High - Low == 1) {
    return Low;
  } else if constexpr (kHasFields<T, (Low + High) / 2>) {
    return count_fields<T, (Low + High) / 2, High>();
  } else {
    return count_fields<T, Low, (Low + High) / 2>();
  }
}

// Up to 8 fields first: most structs are small, and large initialisers cost compile time.
template <class T>
constexpr std::size_t count_fields() {
  if constexpr (!kHasFields<T, 9>) {
    return count_fields<T, 0, 9>();
  } else if constexpr (!kHasFields<T, kMaxFields + 1>) {
    return count_fields<T, 9, kMaxFields + 1>();
  } else {
    return kMaxFields + 1;
  }
}

enum class Reflection {
  kYes,
  kNotAnAggregate,
  kFieldWithoutDefault,
  kReferenceField,
  kBaseClass,
  kTooManyFields,
};

template <class T>
using field_types_t =
    decltype(FieldArity<count_fields<T>()>::types(std::declval<std::remove_cv_t<T>&>()));

template <class... Fields>
constexpr bool any_reference(TypeList<Fields...>) {
  return (std::is_reference_v<Fields> || ...);
}

template <class T>
constexpr Reflection reflection_of() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T>) {
    return Reflection::kNotAnAggregate;
  } else if constexpr (!kHasFields<T, 0>) {
    return Reflection::kFieldWithoutDefault;
  } else if constexpr (requires { T{BaseProbe<T>{}}; }) {
    return Reflection::kBaseClass;
  } else if constexpr (count_fields<T>() > kMaxFields) {
    return Reflection::kTooManyFields;
  } else if constexpr (any_reference(field_types_t<T>{})) {
    return Reflection::kReferenceField;
  } else {
    return Reflection::kYes;
  }
}

template <class T>
inline constexpr Reflection kReflection = reflection_of<T>();

// Reports why an aggregate T is not supported, and the remedy.
template <class T>
constexpr void assert_reflectable() {
  constexpr Reflection reflection = kReflection<T>;
  static_assert(
      reflection != Reflection::kFieldWithoutDefault && reflection != Reflection::kReferenceField,
      "rondo: a field of this struct is a reference, or cannot be initialised from {} "
      "(its class has no default constructor): hold it by value, or give the struct a "
      "function tree_fields(T&) that returns std::tie of its fields.");
  static_assert(reflection != Reflection::kBaseClass,
                "rondo: this struct has a base class, which reflection does not see through: make "
                "the base a field, or give the struct a function tree_fields(T&) that returns "
                "std::tie of its fields.");
  static_assert(reflection != Reflection::kTooManyFields,
                "rondo: this struct has more than 64 fields: group them in nested structs or a "
                "std::array, or give it a function tree_fields(T&) that returns std::tie of its "
                "fields.");
}

// f(field...) with lvalues of the fields of an aggregate, const if the object is.
template <class Visitor, class T>
constexpr decltype(auto) apply_fields(Visitor&& visitor, T& object) {
  return FieldArity<count_fields<std::remove_cv_t<T>>()>::apply(visitor, object);
}

constexpr bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// The identifier that ends the last template argument: `...{&fake.value.slab}]` by clang,
// `...{(& fake<S>.Holder<S>::value.S::slab)}; ...]` by g++.
constexpr std::string_view last_identifier(std::string_view text) {
  std::size_t end = text.rfind('}');
  while (end > 0 && !is_identifier_char(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_identifier_char(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// Names. `fake` is an object that is never defined: the address of each of its fields is a constant
// expression all the same, and the text of a function that has that address as template argument
// contains the field's name. clang 14 rejects the address of a subobject as a bare template
// argument, but accepts it within a class.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

template <class T>
struct Holder {
  T value;
};

template <class T>
extern Holder<T> fake;

template <class P>
struct FieldAddress {
  P address;
};

// Selects the address after as many others as Before counts, without a tuple's instantiations.
template <class Before>
struct AddressAfter;

template <std::size_t... I>
struct AddressAfter<std::index_sequence<I...>> {
  template <std::size_t>
  using Any = const volatile void*;
  template <class Field, class... After>
  static constexpr FieldAddress<Field*> pick(Any<I>..., Field* field, After*...) {
    return {field};
  }
  template <class... Fields>
  constexpr auto operator()(Fields&... fields) const {
    return pick(std::addressof(fields)...);
  }
};

template <FieldAddress kAddress>
constexpr std::string_view address_text() {
  return __PRETTY_FUNCTION__;
}

template <class T, std::size_t I>
constexpr std::string_view name_of_field() {
  using Pick = AddressAfter<std::make_index_sequence<I>>;
  return last_identifier(address_text<apply_fields(Pick{}, fake<T>.value)>());
}

template <class T, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> names_of_fields(std::index_sequence<I...>) {
  return {name_of_field<T, I>()...};
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class T>
inline constexpr auto kFieldNames =
    names_of_fields<T>(std::make_index_sequence<count_fields<T>()>{});

}  // namespace rondo::detail
