#include "native/debug/dwarf_variables.h"

#include <cstddef>

#include "lower/run_frame.h"
#include "native/debug/dwarf.h"
#include "native/debug/dwarf_numbers.h"
#include "rondo/dtype.h"

namespace rondo::native_code {

namespace {

DType dtype_in_register(lower::Type type) {
  switch (type) {
    case lower::Type::kPred:
      return DType::kPred;
    case lower::Type::kS8:
      return DType::kS8;
    case lower::Type::kS16:
      return DType::kS16;
    case lower::Type::kS32:
      return DType::kS32;
    case lower::Type::kS64:
      return DType::kS64;
    case lower::Type::kU8:
      return DType::kU8;
    case lower::Type::kU16:
      return DType::kU16;
    case lower::Type::kU32:
      return DType::kU32;
    case lower::Type::kF64:
      return DType::kF64;
    case lower::Type::kF16:
    case lower::Type::kBF16:
    case lower::Type::kF32:
      return DType::kF32;
    default:
      return DType::kU64;
  }
}

unsigned encoding_of(DType dtype) {
  if (is_pred(dtype)) return dwarf::encoding::kBoolean;
  if (is_complex(dtype)) return dwarf::encoding::kComplexFloat;
  if (is_signed_integer(dtype)) return dwarf::encoding::kSigned;
  // Debuggers have no bf16 and no small floats: these are shown as their bits.
  const bool is_known = dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64;
  return is_known ? dwarf::encoding::kFloat : dwarf::encoding::kUnsigned;
}

}  // namespace

void VariableAbbreviations::write(ByteWriter& out) {
  namespace attribute = dwarf::attribute;
  namespace form = dwarf::form;
  write_abbreviation(out, kVariable, dwarf::tag::kVariable, false,
                     {{attribute::kName, form::kString},
                      {attribute::kType, form::kReference4},
                      {attribute::kLocation, form::kSectionOffset}});
  write_abbreviation(out, kElement, dwarf::tag::kBaseType, false,
                     {{attribute::kName, form::kString},
                      {attribute::kEncoding, form::kData1},
                      {attribute::kByteSize, form::kData1}});
  write_abbreviation(out, kArray, dwarf::tag::kArrayType, true,
                     {{attribute::kType, form::kReference4}});
  write_abbreviation(out, kDimension, dwarf::tag::kSubrangeType, false,
                     {{attribute::kCount, form::kUnsigned}});
}

VariableWriter::ElementType VariableWriter::element_type(const PlacedVariable& variable) {
  const DType dtype = variable.array ? variable.array->dtype : dtype_in_register(variable.type);
  return {std::string(dtype_name(dtype)), encoding_of(dtype),
          static_cast<unsigned>(byte_width(dtype))};
}

std::uint32_t VariableWriter::write_element(const ElementType& type) {
  const auto [found, is_new] =
      types_.try_emplace(type.name, static_cast<std::uint32_t>(info_.size()));
  if (is_new) {
    info_.unsigned_leb(VariableAbbreviations::kElement);
    info_.text(type.name);
    info_.u8(type.encoding);
    info_.u8(type.bytes);
  }
  return found->second;
}

std::uint32_t VariableWriter::write_array(const TensorType& type, std::uint32_t element) {
  const auto [found, is_new] =
      types_.try_emplace(type.str(), static_cast<std::uint32_t>(info_.size()));
  if (is_new) {
    info_.unsigned_leb(VariableAbbreviations::kArray);
    info_.u32(element);
    for (const std::int64_t size : type.shape.dims()) {
      info_.unsigned_leb(VariableAbbreviations::kDimension);
      info_.unsigned_leb(static_cast<std::uint64_t>(size));
    }
    info_.u8(0);
  }
  return found->second;
}

void VariableWriter::write_types() {
  for (const PlacedVariable& variable : code_.variables) {
    const std::uint32_t element = write_element(element_type(variable));
    const bool is_array = variable.array && variable.array->rank() > 0;
    type_of_.push_back(is_array ? write_array(*variable.array, element) : element);
  }
}

void VariableWriter::write(std::size_t index) {
  const PlacedVariable& variable = code_.variables[index];
  const auto [found, is_new] = places_of_.try_emplace(index, 0);
  if (is_new) found->second = write_places(variable);
  info_.unsigned_leb(VariableAbbreviations::kVariable);
  info_.text(variable.name);
  info_.u32(type_of_[index]);
  info_.u32(found->second);
}

/// A list of section 7.7.3. Gives its place in the section.
std::uint32_t VariableWriter::write_places(const PlacedVariable& variable) {
  const auto begin = static_cast<std::uint32_t>(locations_.size());
  for (const PlacedVariable::Where& where : variable.places) {
    ByteWriter expression;
    write_expression(variable, where, expression);
    locations_.u64(where.begin);
    locations_.u64(where.end);
    locations_.u16(static_cast<unsigned>(expression.size()));
    locations_.append(expression.bytes());
  }
  locations_.u64(0);
  locations_.u64(0);
  return begin;
}

void VariableWriter::write_expression(const PlacedVariable& variable,
                                      const PlacedVariable::Where& where, ByteWriter& out) const {
  if (where.kind == PlacedVariable::Kind::kBuffer) return write_buffer(where.buffer, out);
  const bool is_array = variable.array.has_value();
  if (where.kind == PlacedVariable::Kind::kStack) {
    out.u8(dwarf::operation::kFromRegister0 + code_.numbers.stack_pointer);
    out.signed_leb(where.offset);
    if (is_array) out.u8(dwarf::operation::kDereference);
    return;
  }
  constexpr unsigned kHalf = 16;
  unsigned number = code_.numbers.general[where.number];
  if (where.registers == RegisterClass::kVector)
    number = code_.numbers.vectors[where.number / kHalf] + where.number % kHalf;
  if (is_array) {
    out.u8(dwarf::operation::kFromRegister0 + number);
    out.signed_leb(0);
  } else if (number < 32) {
    out.u8(dwarf::operation::kInRegister0 + number);
  } else {
    out.u8(dwarf::operation::kInRegister);
    out.unsigned_leb(number);
  }
}

/// Its address, by the run's frame.
void VariableWriter::write_buffer(const lower::Buffer& buffer, ByteWriter& out) const {
  using lower::RunFrame;
  using lower::Storage;
  out.u8(dwarf::operation::kFromRegister0 + code_.numbers.general[code_.numbers.run_frame]);
  if (buffer.storage == Storage::kArena) {
    out.signed_leb(offsetof(RunFrame, arena));
    out.u8(dwarf::operation::kDereference);
    out.u8(dwarf::operation::kPlusConstant);
    out.unsigned_leb(static_cast<std::uint64_t>(buffer.offset));
    return;
  }
  out.signed_leb(buffer.storage == Storage::kArgument ? offsetof(RunFrame, arguments)
                 : buffer.storage == Storage::kResult ? offsetof(RunFrame, results)
                                                      : offsetof(RunFrame, constants));
  out.u8(dwarf::operation::kDereference);
  out.u8(dwarf::operation::kPlusConstant);
  out.unsigned_leb(sizeof(void*) * std::uint64_t{buffer.index});
  out.u8(dwarf::operation::kDereference);
}

}  // namespace rondo::native_code
