#include "rondo/dlpack.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "rondo/detail/dlpack_abi.h"  // first, so that the library is the same with DLPack's header
#include "rondo/detail/strided_copy.h"
#include "rondo/error.h"

namespace rondo {
namespace {

// As numbers, since headers of older versions do not name all of them.
enum DlpackCode : std::uint8_t {
  kDlpackInt,
  kDlpackUnsigned,
  kDlpackFloat,
  kDlpackBfloat = 4,
  kDlpackComplex,
  kDlpackBool
};

static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 &&
                  sizeof(DLManagedTensorVersioned) == 80,
              "the ABI of DLPack");

/// The first with the codes of floats of 8 bits. A minor version adds names, no fields.
constexpr DLPackVersion kDlpackVersion = {1, 1};

/// The codes of DLPack 1.1 for floats of 8 bits, each named by its format.
constexpr std::pair<std::uint8_t, DType> kCodesOfSmallFloats[] = {
    {7, DType::kF8E3M4},      {8, DType::kF8E4M3},      {9, DType::kF8E4M3B11FNUZ},
    {10, DType::kF8E4M3FN},   {11, DType::kF8E4M3FNUZ}, {12, DType::kF8E5M2},
    {13, DType::kF8E5M2FNUZ},
};

std::optional<DLDataType> dlpack_type(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * byte_width(dtype));
  if (is_small(dtype)) {
    for (const auto& [code, small] : kCodesOfSmallFloats) {
      if (small == dtype) return DLDataType{code, bits, 1};
    }
    return std::nullopt;
  }
  const DlpackCode code = is_pred(dtype)               ? kDlpackBool
                          : is_signed_integer(dtype)   ? kDlpackInt
                          : is_unsigned_integer(dtype) ? kDlpackUnsigned
                          : is_complex(dtype)          ? kDlpackComplex
                          : dtype == DType::kBF16      ? kDlpackBfloat
                                                       : kDlpackFloat;
  return DLDataType{code, bits, 1};
}

std::optional<DType> dtype_from(const DLDataType& type) {
  for (int i = 0; i < kDTypeCount; i++) {
    const auto dtype = static_cast<DType>(i);
    const std::optional<DLDataType> own = dlpack_type(dtype);
    if (own && own->code == type.code && own->bits == type.bits) return dtype;
  }
  return std::nullopt;
}

std::string code_text(std::uint8_t code) {
  static constexpr std::string_view kNames[] = {"int",    "uint",    "float", "opaque handle",
                                                "bfloat", "complex", "bool"};
  return code < std::size(kNames) ? std::string(kNames[code]) : fmt::format("code {}", code);
}

std::string device_text(int type) {
  switch (type) {
    case 2:
      return "CUDA";
    case 3:
      return "pinned CUDA memory";
    case 10:
      return "ROCm";
    case 13:
      return "managed CUDA memory";
    default:
      return fmt::format("of DLPack's type {}", type);
  }
}

[[noreturn]] void refuse_dlpack(const std::string& what, const char* remedy) {
  throw TraceError(fmt::format("from_dlpack: {}\n  {}", what, remedy));
}

DType checked_dtype(const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU) {
    refuse_dlpack(fmt::format("the array is on another device than the CPU: {}",
                              device_text(tensor.device.device_type)),
                  "Copy it to the host in its own library first.");
  }
  if (tensor.dtype.lanes != 1) {
    refuse_dlpack(fmt::format("an element has {} lanes", tensor.dtype.lanes),
                  "Make the lanes an axis of the array.");
  }
  const std::optional<DType> dtype = dtype_from(tensor.dtype);
  if (!dtype) {
    refuse_dlpack(
        fmt::format("no dtype is a {} of {} bits", code_text(tensor.dtype.code), tensor.dtype.bits),
        "Convert the array in its own library first.");
  }
  return *dtype;
}

Shape checked_shape(const DLTensor& tensor) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    refuse_dlpack(tensor.ndim < 0 ? fmt::format("the array has {} axes", tensor.ndim)
                                  : fmt::format("the array has {} axes and no sizes", tensor.ndim),
                  "The library that made it did not fill in its shape.");
  }
  const std::span<const std::int64_t> dims(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  for (std::size_t axis = 0; axis < dims.size(); axis++) {
    if (dims[axis] < 0) {
      refuse_dlpack(fmt::format("axis {} has size {}", axis, dims[axis]),
                    "The library that made it did not fill in its shape.");
    }
  }
  return dims;  // throws if there are too many elements
}

/// In bytes.
std::vector<std::int64_t> packed_byte_strides(const Shape& shape, std::int64_t width) {
  std::vector<std::int64_t> strides(shape.size(), width);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * std::max<std::int64_t>(shape[axis], 1);
  return strides;
}

/// In bytes; of an axis along which no element follows another, those of a dense array.
std::vector<std::int64_t> checked_strides(const DLTensor& tensor, const Shape& shape,
                                          std::int64_t width) {
  std::vector<std::int64_t> strides = packed_byte_strides(shape, width);
  if (tensor.strides == nullptr || shape.elements() == 0) return strides;
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 1) continue;
    std::int64_t last = 0;  // the distance of the last element
    if (__builtin_mul_overflow(tensor.strides[axis], width, &strides[axis]) ||
        __builtin_mul_overflow(strides[axis], shape[axis] - 1, &last)) {
      refuse_dlpack(fmt::format("axis {} has size {} and stride {}, beyond the address space", axis,
                                shape[axis], tensor.strides[axis]),
                    "The library that made it did not fill in its strides.");
    }
  }
  return strides;
}

Literal strided_literal(const TensorType& type, const std::byte* elements,
                        std::span<const std::int64_t> strides) {
  Literal literal = Literal::uninitialized(type);
  const std::int64_t width = byte_width(type.dtype);
  std::byte* const to = literal.mutable_bytes();
  detail::copy_strided({to, packed_byte_strides(type.shape, width)}, {elements, strides},
                       type.shape.dims(), static_cast<std::size_t>(width));
  if (is_pred(type.dtype)) {
    std::transform(to, to + type.elements(), to,
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  }
  return literal;
}

bool is_aligned(const std::byte* elements, DType dtype) {
  const std::int64_t width = is_complex(dtype) ? byte_width(dtype) / 2 : byte_width(dtype);
  const auto alignment = static_cast<std::uintptr_t>(std::max<std::int64_t>(width, 1));
  return reinterpret_cast<std::uintptr_t>(elements) % alignment == 0;
}

/// Whether the bytes are those of preds, if they should be.
bool has_valid_elements(const std::byte* elements, const TensorType& type) {
  return !is_pred(type.dtype) || std::all_of(elements, elements + type.elements(),
                                             [](std::byte b) { return b <= std::byte{1}; });
}

/// What a consumer holds: of type DLManagedTensor or DLManagedTensorVersioned.
template <class Managed>
struct ExportedLiteral {
  Managed tensor;
  Literal literal;
  std::vector<std::int64_t> dims, strides;  // in elements
};

template <class Managed>
Managed* exported(const char* name, const Literal& literal) {
  if (literal.bytes() == nullptr && literal.elements() > 0) {
    throw TraceError(fmt::format(
        "{}: the literal was moved from\n  Assign to it before it is used again.", name));
  }
  const std::optional<DLDataType> type = dlpack_type(literal.dtype());
  if (!type) {
    throw TraceError(
        fmt::format("{}: DLPack packs the numbers of {}, and a literal has each in a byte\n  "
                    "Convert it to s8, u8 or f32 first.",
                    name, literal.type().str()));
  }
  auto held = std::make_unique<ExportedLiteral<Managed>>();
  held->literal = literal;
  held->dims = literal.shape().vector();
  held->strides = packed_byte_strides(literal.shape(), 1);
  DLTensor& tensor = held->tensor.dl_tensor;
  // Consumers have no type for elements that they may not write.
  tensor.data = const_cast<std::byte*>(held->literal.bytes());
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<std::int32_t>(held->dims.size());
  tensor.dtype = *type;
  tensor.shape = held->dims.data();
  tensor.strides = held->strides.data();
  tensor.byte_offset = 0;
  held->tensor.manager_ctx = held.get();
  held->tensor.deleter = [](Managed* self) {
    delete static_cast<ExportedLiteral<Managed>*>(self->manager_ctx);
  };
  return &held.release()->tensor;
}

/// `owner` is released when the memory is needed no more.
Literal literal_of(const DLTensor& tensor, const std::shared_ptr<const void>& owner) {
  const DType dtype = checked_dtype(tensor);
  const TensorType type{dtype, checked_shape(tensor)};
  if (type.elements() == 0) return Literal::zeros(type);
  const std::int64_t width = byte_width(dtype);
  const std::vector<std::int64_t> strides = checked_strides(tensor, type.shape, width);
  if (tensor.data == nullptr) {
    refuse_dlpack(fmt::format("{} has no memory", type.str()),
                  "The library that made it did not fill in its data.");
  }
  const std::byte* const elements =
      static_cast<const std::byte*>(tensor.data) + static_cast<std::ptrdiff_t>(tensor.byte_offset);
  const bool shares = strides == packed_byte_strides(type.shape, width) &&
                      is_aligned(elements, dtype) && has_valid_elements(elements, type);
  if (!shares) return strided_literal(type, elements, strides);
  return Literal::sharing(std::shared_ptr<const void>(owner, elements), type);
}

template <class Managed>
std::shared_ptr<Managed> owned(Managed* given) {
  if (given == nullptr) {
    refuse_dlpack("the pointer is null",
                  "A capsule of Python gives it once: consume it only once.");
  }
  return {given, [](Managed* tensor) {
            if (tensor->deleter != nullptr) tensor->deleter(tensor);
          }};
}

}  // namespace

DLManagedTensor* to_dlpack(const Literal& literal) {
  return exported<DLManagedTensor>("to_dlpack", literal);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Literal& literal) {
  auto* const tensor = exported<DLManagedTensorVersioned>("to_dlpack_versioned", literal);
  tensor->version = kDlpackVersion;
  tensor->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  return tensor;
}

Literal from_dlpack(DLManagedTensor* given) {
  const std::shared_ptr<DLManagedTensor> owner = owned(given);
  return literal_of(given->dl_tensor, owner);
}

Literal from_dlpack(DLManagedTensorVersioned* given) {
  const std::shared_ptr<DLManagedTensorVersioned> owner = owned(given);
  if (given->version.major != kDlpackVersion.major) {
    refuse_dlpack(fmt::format("the array is described by DLPack {}.{}", given->version.major,
                              given->version.minor),
                  "Ask its library for version 1: x.__dlpack__(max_version=(1, 1)) in Python.");
  }
  return literal_of(given->dl_tensor, owner);
}

}  // namespace rondo
