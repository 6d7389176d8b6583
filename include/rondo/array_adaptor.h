// Arrays of other libraries where tensors are expected, and back.
//
// A type becomes one leaf of a tree when ArrayAdaptor is specialized for it: an argument of what
// jit, grad, vmap and the other transforms return, a carry, a field of a struct of arguments.
// rondo/eigen.h does that for Eigen. A specialization has
//
//     using Element = float;                              // a HostScalar
//     static Literal literal(const T& array);             // the elements, copied
//
// and, if T can be a result, to which a Tensor then converts,
//
//     static T from(const Literal& literal);              // throws TraceError if it does not fit
//
// and, if its size is fixed, so that native takes and returns it,
//
//     static constexpr std::array<std::int64_t, 2> kDims = {4, 4};
//     static constexpr bool kIsRowMajor = true;           // its elements are in that order,
//     static Element* data(T& array);                     // here
//     static void read(const T& array, Element* to);      // otherwise: copied in row-major order
//     static void write(const Element* from, T& array);
#pragma once

namespace rondo {

/// How a type T of another library converts to and from a Literal: specialized for each such type,
/// as this header describes. There is no definition for other types.
template <class T>
struct ArrayAdaptor;

/// A type of arrays of another library that is converted to a tensor.
template <class T>
concept AdaptedArray = requires {
  typename ArrayAdaptor<T>::Element;
};

/// One that a tensor or literal is converted to.
template <class T>
concept AdaptedResult = AdaptedArray<T> && requires {
  &ArrayAdaptor<T>::from;
};

/// One of fixed size.
template <class T>
concept AdaptedFixedArray = AdaptedArray<T> && requires {
  ArrayAdaptor<T>::kDims;
};

}  // namespace rondo
