#include "rondo/literal.h"

#include <cstring>
#include <ostream>

#include "base/array_text.h"

namespace rondo {
namespace {

/// The host type of a dtype, as C++ source.
const char* host_type_name(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return "bool";
    case DType::kS8:
      return "std::int8_t";
    case DType::kS16:
      return "std::int16_t";
    case DType::kS32:
      return "std::int32_t";
    case DType::kS64:
      return "std::int64_t";
    case DType::kU8:
      return "std::uint8_t";
    case DType::kU16:
      return "std::uint16_t";
    case DType::kU32:
      return "std::uint32_t";
    case DType::kU64:
      return "std::uint64_t";
    case DType::kF16:
      return "rondo::float16";
    case DType::kBF16:
      return "rondo::bfloat16";
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    case DType::kC64:
      return "std::complex<float>";
    case DType::kC128:
      return "std::complex<double>";
    case DType::kS2:
      return "rondo::int2";
    case DType::kU2:
      return "rondo::uint2";
    case DType::kS4:
      return "rondo::int4";
    case DType::kU4:
      return "rondo::uint4";
    case DType::kF4E2M1FN:
      return "rondo::float4_e2m1fn";
    case DType::kF8E3M4:
      return "rondo::float8_e3m4";
    case DType::kF8E4M3:
      return "rondo::float8_e4m3";
    case DType::kF8E4M3FN:
      return "rondo::float8_e4m3fn";
    case DType::kF8E4M3B11FNUZ:
      return "rondo::float8_e4m3b11fnuz";
    case DType::kF8E4M3FNUZ:
      return "rondo::float8_e4m3fnuz";
    case DType::kF8E5M2:
      return "rondo::float8_e5m2";
    case DType::kF8E5M2FNUZ:
      return "rondo::float8_e5m2fnuz";
  }
  return "?";
}

[[noreturn]] void fail_moved_from(const char* what) {
  throw TraceError(std::string("Literal::") + what +
                   ": the literal was moved from\n  Assign to it before it is used again.");
}

/// The bytes of a small integer have its value, and f4 no upper half.
void check_small_bytes(const Literal& literal, const TensorType& type) {
  if (bit_width(type.dtype) >= 8 || type.dtype == literal.dtype()) return;
  for (std::int64_t i = 0; i < type.elements(); i++) {
    const auto byte = static_cast<std::uint8_t>(literal.bytes()[i]);
    if (detail::wrapped_small(type.dtype, byte) == byte) continue;
    throw TraceError("Literal::reinterpreted: " + literal.type().str() + " cannot become " +
                     type.str() + ", since byte " + std::to_string(i) + " is " +
                     std::to_string(byte) +
                     "\n  Each byte holds one number: convert the elements instead.");
  }
}

}  // namespace

const Shape& Literal::empty_shape() {
  static const Shape& shape = *new Shape{0};  // outlives every static literal
  return shape;
}

Literal Literal::zeros(const TensorType& type) {
  Literal literal = uninitialized(type);
  std::memset(literal.storage_->data(), 0, literal.storage_->bytes);
  return literal;
}

Literal Literal::copy_of(const void* values, std::size_t count, const TensorType& type) {
  if (count != static_cast<std::size_t>(type.elements())) {
    throw TraceError("Literal::from: " + std::to_string(count) + " values do not fill " +
                     type.str() + ", which has " + std::to_string(type.elements()) +
                     " elements\n  Give as many values, or another shape.");
  }
  Literal literal = uninitialized(type);
  if (count > 0) std::memcpy(literal.storage_->data(), values, literal.storage_->bytes);
  return literal;
}

std::byte* Literal::mutable_bytes() & {
  if (storage_ == nullptr) {
    if (elements() != 0) fail_moved_from("mutable_bytes");
    *this = uninitialized(type_);
  } else if (!unique()) {
    *this = Literal(type_, copied(*storage_, type_));
  }
  return storage_->data();
}

Literal::Storage* Literal::copied(Storage& storage, const TensorType& type) {
  Literal copy = uninitialized(type);
  std::memcpy(copy.storage_->data(), storage.data(), storage.bytes);
  return std::exchange(copy.storage_, nullptr);
}

Literal Literal::reinterpreted(const TensorType& type) const& {
  return Literal(*this).reinterpreted(type);
}

Literal Literal::reinterpreted(const TensorType& type) && {
  if (storage_ == nullptr && elements() != 0) fail_moved_from("reinterpreted");
  if (type.bytes() != type_.bytes()) {
    throw TraceError("Literal::reinterpreted: the literal is " + type_.str() + " of " +
                     std::to_string(type_.bytes()) + " bytes, but " + type.str() + " has " +
                     std::to_string(type.bytes()) + "\n  Give a type of as many bytes.");
  }
  if (is_pred(type.dtype) && !is_pred(type_.dtype)) {
    throw TraceError(
        "Literal::reinterpreted: " + type_.str() + " cannot become " + type.str() +
        ", since the bytes of a pred are 0 or 1\n  Compare the elements with 0 instead.");
  }
  check_small_bytes(*this, type);
  Literal result(std::move(*this));
  result.type_ = type;
  return result;
}

void Literal::check_dtype(DType wanted) const {
  if (wanted == dtype()) return;
  throw TraceError("data<" + std::string(host_type_name(wanted)) + ">(): the literal is " +
                   type_.str() + "\n  Ask for data<" + host_type_name(dtype()) + ">().");
}

void Literal::check_single() const {
  if (elements() != 1) {
    throw TraceError(
        "item(): the literal is " + type_.str() + ", which has " + std::to_string(elements()) +
        " elements, not one\n  Read the elements through data<" + host_type_name(dtype()) + ">().");
  }
  if (storage_ == nullptr) fail_moved_from("item");
}

bool Literal::identical(const Literal& other) const noexcept {
  if (type_ != other.type_) return false;
  if (storage_ == other.storage_ || elements() == 0) return true;
  if (storage_ == nullptr || other.storage_ == nullptr) return false;
  return std::memcmp(storage_->data(), other.storage_->data(), storage_->bytes) == 0;
}

std::string Literal::str() const {
  std::string text = type_.str();
  text += ' ';
  if (storage_ == nullptr && elements() != 0) return text += "(moved from)";
  append_elements(text, *this, {.cut_above = kElementsShownWhole});
  return text;
}

std::ostream& operator<<(std::ostream& out, const Literal& literal) { return out << literal.str(); }

}  // namespace rondo
