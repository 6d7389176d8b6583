// Trees of C++ numbers and arrays of numbers, for which a traced function has Tensors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/detail/tree.h"
#include "rondo/dtype.h"
#include "rondo/reflect.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo::detail {

// The host types of one tensor: a number, a std::array of numbers (nested: of higher rank), or an
// array of another library. kIsRowMajor: the object is its elements, in row-major order.
template <class T>
struct HostTensor {
  static constexpr bool value = HostScalar<T> && !std::is_same_v<T, long double>;
  using Number = T;
  static constexpr bool kIsRowMajor = true;
  static void append_dims(std::vector<std::int64_t>&) {}
};
template <class T, std::size_t N>
struct HostTensor<std::array<T, N>> {
  static constexpr bool value = HostTensor<T>::value && !AdaptedArray<T>;
  using Number = typename HostTensor<T>::Number;
  static constexpr bool kIsRowMajor = true;
  static void append_dims(std::vector<std::int64_t>& dims) {
    dims.push_back(static_cast<std::int64_t>(N));
    HostTensor<T>::append_dims(dims);
  }
};
template <AdaptedFixedArray T>
struct HostTensor<T> {
  static constexpr bool value = true;
  using Number = typename ArrayAdaptor<T>::Element;
  static constexpr bool kIsRowMajor = ArrayAdaptor<T>::kIsRowMajor;
  static void append_dims(std::vector<std::int64_t>& dims) {
    dims.insert(dims.end(), ArrayAdaptor<T>::kDims.begin(), ArrayAdaptor<T>::kDims.end());
  }
};
template <class T>
TensorType host_tensor_type() {
  std::vector<std::int64_t> dims;
  HostTensor<T>::append_dims(dims);
  return {dtype_of<typename HostTensor<T>::Number>, dims};
}

// Whether the sizes of a tree are fixed by its type, down to the children of this node.
template <class T>
inline constexpr bool kIsFixedNode =
    kTreeKind<T> == TreeKind::kTuple || kTreeKind<T> == TreeKind::kArray || kIsStruct<T>;

// Whether T consists of host types of tensors, and structs, tuples and arrays of these.
template <class T>
constexpr bool is_host() {
  if constexpr (HostTensor<T>::value) {
    return true;
  } else if constexpr (kIsFixedNode<T>) {
    return []<class... Children>(TypeList<Children...>) {
      return (is_host<std::remove_cvref_t<Children>>() && ...);
    }(children_t<T>{});
  } else {
    return false;
  }
}

// Calls visit(part) for each number or array of numbers, in the order of declaration.
template <class T, class Visit>
constexpr void visit_host(T& tree, Visit& visit) {
  using Tree = std::remove_const_t<T>;
  [[maybe_unused]] const auto visit_all = [&visit](auto&... children) {
    (visit_host(children, visit), ...);
  };
  if constexpr (HostTensor<Tree>::value) {
    visit(tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kTuple) {
    std::apply(visit_all, tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kStruct) {
    apply_fields(visit_all, tree);
  } else if constexpr (kTreeKind<Tree> == TreeKind::kOwnFields) {
    std::apply(visit_all, own_fields_of(tree));
  } else {
    for (auto& element : tree) visit_host(element, visit);
  }
}

template <class T>
constexpr std::size_t host_count() {
  if constexpr (HostTensor<T>::value) {
    return 1;
  } else if constexpr (kTreeKind<T> == TreeKind::kArray) {
    return std::tuple_size_v<T> * host_count<typename T::value_type>();
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (std::size_t{0} + ... + host_count<std::remove_cvref_t<Children>>());
    }(children_t<T>{});
  }
}

// Bytes for a row-major copy of each array of T that has another order, each a multiple of 16.
template <class T>
constexpr std::size_t reordered_bytes() {
  if constexpr (HostTensor<T>::value) {
    return HostTensor<T>::kIsRowMajor ? 0 : (sizeof(T) + 15) / 16 * 16;
  } else if constexpr (kTreeKind<T> == TreeKind::kArray) {
    return std::tuple_size_v<T> * reordered_bytes<typename T::value_type>();
  } else {
    return []<class... Children>(TypeList<Children...>) {
      return (std::size_t{0} + ... + reordered_bytes<std::remove_cvref_t<Children>>());
    }(children_t<T>{});
  }
}

template <class T>
void append_host_types(std::vector<TensorType>& types) {
  if constexpr (HostTensor<T>::value) {
    types.push_back(host_tensor_type<T>());
  } else if constexpr (kTreeKind<T> == TreeKind::kArray) {
    for (std::size_t i = 0; i < std::tuple_size_v<T>; i++)
      append_host_types<typename T::value_type>(types);
  } else {
    [&types]<class... Children>(TypeList<Children...>) {
      (append_host_types<std::remove_cvref_t<Children>>(types), ...);
    }(children_t<T>{});
  }
}

// The same names in another order, which is almost certainly a mistake.
template <class From, class To>
constexpr bool fields_are_permuted() {
  const auto from = kFieldNames<From>;
  const auto to = kFieldNames<To>;
  if (from == to || from.size() != to.size()) return false;
  const auto times = [](std::string_view name, const auto& names) {
    std::size_t found = 0;
    for (const std::string_view other : names) found += other == name ? 1 : 0;
    return found;
  };
  for (const std::string_view name : from) {
    if (times(name, from) != times(name, to)) return false;
  }
  return true;
}

// Whether the tree To, whose leaves become Tensors, has the structure of the host type From.
template <class From, class To>
constexpr bool host_corresponds();

template <class... From, class... To>
constexpr bool all_hosts_correspond(TypeList<From...>, TypeList<To...>) {
  if constexpr (sizeof...(From) != sizeof...(To)) {
    return false;
  } else {
    return (host_corresponds<std::remove_cvref_t<From>, std::remove_cvref_t<To>>() && ...);
  }
}

template <class From, class To>
constexpr bool host_corresponds() {
  if constexpr (HostTensor<From>::value || kTreeKind<To> == TreeKind::kLeaf) {
    return HostTensor<From>::value && kTreeKind<To> == TreeKind::kLeaf &&
           std::is_convertible_v<const To&, Tensor>;
  } else if constexpr (kIsStruct<From> != kIsStruct<To> || !kIsFixedNode<To>) {
    return false;
  } else if constexpr (kTreeKind<From> == TreeKind::kStruct && kTreeKind<To> == TreeKind::kStruct) {
    if constexpr (field_count<From>() != field_count<To>()) {
      return false;
    } else {
      return !fields_are_permuted<From, To>() &&
             all_hosts_correspond(children_t<From>{}, children_t<To>{});
    }
  } else if constexpr (kTreeKind<From> == TreeKind::kArray || kTreeKind<To> == TreeKind::kArray) {
    if constexpr (kTreeKind<From> != kTreeKind<To>) {
      return false;
    } else {
      return std::tuple_size_v<From> == std::tuple_size_v<To> &&
             all_hosts_correspond(children_t<From>{}, children_t<To>{});
    }
  } else {
    return all_hosts_correspond(children_t<From>{}, children_t<To>{});
  }
}

// The tree of Tensors for a host type if f does not give it: for a struct, another instance of its
// template; void if there is none.
template <class T>
struct TracedHost {
  using type = std::conditional_t<HostTensor<T>::value, Tensor, void>;
};
template <template <class...> class Template, class... Ts>
requires(!HostScalar<Template<Ts...>> &&
         !AdaptedArray<Template<Ts...>>) struct TracedHost<Template<Ts...>> {
  static constexpr auto traced() {
    if constexpr ((std::is_void_v<typename TracedHost<Ts>::type> || ...)) {
      return std::type_identity<void>{};
    } else {
      return std::type_identity<Template<typename TracedHost<Ts>::type...>>{};
    }
  }
  using type = typename decltype(traced())::type;
};
template <class T, std::size_t N>
struct TracedHost<std::array<T, N>> {
  using Element = typename TracedHost<T>::type;
  using type = std::conditional_t<
      HostTensor<std::array<T, N>>::value, Tensor,
      std::conditional_t<
          std::is_void_v<Element>, void,
          std::array<std::conditional_t<std::is_void_v<Element>, Tensor, Element>, N>>>;
};

// The elements of the arguments and results of a call in row-major order: where they are, or copied
// to this memory.
template <std::size_t kBytes>
class ReorderedArrays {
 public:
  template <class T>
  const std::byte* read(const T& part) {
    if constexpr (HostTensor<T>::kIsRowMajor) {
      return address(const_cast<T&>(part));
    } else {
      std::byte* const place = take(sizeof(T));
      ArrayAdaptor<T>::read(part, reinterpret_cast<typename HostTensor<T>::Number*>(place));
      return place;
    }
  }
  template <class T>
  std::byte* place_of(T& part) {
    if constexpr (HostTensor<T>::kIsRowMajor) {
      return address(part);
    } else {
      return take(sizeof(T));
    }
  }

 private:
  template <class T>
  static std::byte* address(T& part) {
    if constexpr (AdaptedArray<T>) {
      return reinterpret_cast<std::byte*>(ArrayAdaptor<T>::data(part));
    } else {
      return reinterpret_cast<std::byte*>(std::addressof(part));
    }
  }
  std::byte* take(std::size_t bytes) {
    std::byte* const place = memory_ + used_;
    used_ += (bytes + 15) / 16 * 16;
    return place;
  }

  alignas(16) std::byte memory_[kBytes + 1];  // one more: arrays cannot be empty
  std::size_t used_ = 0;
};
template <class T>
void write_reordered([[maybe_unused]] const std::byte* place, [[maybe_unused]] T& part) {
  if constexpr (!HostTensor<T>::kIsRowMajor) {
    ArrayAdaptor<T>::write(reinterpret_cast<const typename HostTensor<T>::Number*>(place), part);
  }
}

}  // namespace rondo::detail
