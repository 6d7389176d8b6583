// The numbers of DWARF that we write (DWARF Debugging Information Format, version 4, 2010: sections
// 7.5 to 7.8, 7.12, 7.21 and 7.23).
#pragma once

namespace rondo::native_code::dwarf {

inline constexpr unsigned kVersion = 4;

namespace tag {
enum : unsigned {
  kArrayType = 0x01,
  kCompileUnit = 0x11,
  kSubrangeType = 0x21,
  kBaseType = 0x24,
  kSubprogram = 0x2e,
  kVariable = 0x34,
};
}  // namespace tag

namespace attribute {
enum : unsigned {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kStatementList = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kLanguage = 0x13,
  kCompilationDirectory = 0x1b,
  kProducer = 0x25,
  kCount = 0x37,
  kDeclarationFile = 0x3a,
  kDeclarationLine = 0x3b,
  kEncoding = 0x3e,
  kExternal = 0x3f,
  kType = 0x49,
};
}  // namespace attribute

namespace form {
enum : unsigned {
  kAddress = 0x01,
  kData2 = 0x05,
  kData8 = 0x07,
  kString = 0x08,
  kData1 = 0x0b,
  kUnsigned = 0x0f,
  kReference4 = 0x13,
  kSectionOffset = 0x17,
  kPresent = 0x19,
};
}  // namespace form

namespace encoding {
enum : unsigned { kBoolean = 2, kComplexFloat = 3, kFloat = 4, kSigned = 5, kUnsigned = 7 };
}  // namespace encoding

/// Of expressions.
namespace operation {
enum : unsigned {
  kDereference = 0x06,
  kPlusConstant = 0x23,
  kInRegister0 = 0x50,    // the value is in register 0 …
  kFromRegister0 = 0x70,  // the value of register 0 … plus a constant
  kInRegister = 0x90,
};
}  // namespace operation

/// Of the language C: a debugger takes names of C++ apart.
inline constexpr unsigned kLanguageC = 0x0002;

}  // namespace rondo::native_code::dwarf
