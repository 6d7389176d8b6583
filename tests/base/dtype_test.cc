#include "rondo/dtype.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/for_dtype.h"

namespace rondo {
namespace {

struct Row {
  DType dtype;
  const char* name;
  std::int64_t width;
  char kind;  // pred, signed, unsigned, floating, complex
};
const std::vector<Row> kRows = {{DType::kPred, "pred", 1, 'p'},
                                {DType::kS8, "s8", 1, 's'},
                                {DType::kS16, "s16", 2, 's'},
                                {DType::kS32, "s32", 4, 's'},
                                {DType::kS64, "s64", 8, 's'},
                                {DType::kU8, "u8", 1, 'u'},
                                {DType::kU16, "u16", 2, 'u'},
                                {DType::kU32, "u32", 4, 'u'},
                                {DType::kU64, "u64", 8, 'u'},
                                {DType::kF16, "f16", 2, 'f'},
                                {DType::kBF16, "bf16", 2, 'f'},
                                {DType::kF32, "f32", 4, 'f'},
                                {DType::kF64, "f64", 8, 'f'},
                                {DType::kC64, "c64", 8, 'c'},
                                {DType::kC128, "c128", 16, 'c'},
                                {DType::kS2, "s2", 1, 's'},
                                {DType::kU2, "u2", 1, 'u'},
                                {DType::kS4, "s4", 1, 's'},
                                {DType::kU4, "u4", 1, 'u'},
                                {DType::kF4E2M1FN, "f4e2m1fn", 1, 'f'},
                                {DType::kF8E3M4, "f8e3m4", 1, 'f'},
                                {DType::kF8E4M3, "f8e4m3", 1, 'f'},
                                {DType::kF8E4M3FN, "f8e4m3fn", 1, 'f'},
                                {DType::kF8E4M3B11FNUZ, "f8e4m3b11fnuz", 1, 'f'},
                                {DType::kF8E4M3FNUZ, "f8e4m3fnuz", 1, 'f'},
                                {DType::kF8E5M2, "f8e5m2", 1, 'f'},
                                {DType::kF8E5M2FNUZ, "f8e5m2fnuz", 1, 'f'}};

TEST(DType, NamesWidthsAndKinds) {
  ASSERT_EQ(kRows.size(), static_cast<std::size_t>(kDTypeCount));
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(dtype_name(row.dtype), row.name);
    EXPECT_EQ(byte_width(row.dtype), row.width);
    EXPECT_EQ(is_pred(row.dtype), row.kind == 'p');
    EXPECT_EQ(is_signed_integer(row.dtype), row.kind == 's');
    EXPECT_EQ(is_unsigned_integer(row.dtype), row.kind == 'u');
    EXPECT_EQ(is_integer(row.dtype), row.kind == 's' || row.kind == 'u');
    EXPECT_EQ(is_floating(row.dtype), row.kind == 'f');
    EXPECT_EQ(is_complex(row.dtype), row.kind == 'c');
  }
}

TEST(DType, AValueOutsideTheEnumerationReadsNothing) {
  EXPECT_EQ(dtype_name(static_cast<DType>(kDTypeCount)), "invalid");
  EXPECT_EQ(dtype_name(static_cast<DType>(255)), "invalid");
  EXPECT_EQ(byte_width(static_cast<DType>(255)), 0);
  EXPECT_THROW(for_dtype(static_cast<DType>(kDTypeCount), []<class T>() {}), InternalError);
}

TEST(DType, VisitGivesTheHostTypeOfEachDType) {
  for (const Row& row : kRows) {
    for_any_dtype(row.dtype, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>, row.dtype);
      EXPECT_EQ(static_cast<std::int64_t>(sizeof(T)), row.width) << row.name;
    });
  }
}

// Every C++ arithmetic type, by its width and sign.
static_assert(dtype_of<bool> == DType::kPred);
static_assert(dtype_of<const bool> == DType::kPred);
static_assert(dtype_of<signed char> == DType::kS8);
static_assert(dtype_of<unsigned char> == DType::kU8);
static_assert(dtype_of<short> == DType::kS16);
static_assert(dtype_of<unsigned short> == DType::kU16);
static_assert(dtype_of<int> == DType::kS32);
static_assert(dtype_of<unsigned> == DType::kU32);
static_assert(dtype_of<long> == (sizeof(long) == 8 ? DType::kS64 : DType::kS32));
static_assert(dtype_of<long long> == DType::kS64);
static_assert(dtype_of<unsigned long long> == DType::kU64);
static_assert(dtype_of<std::size_t> == (sizeof(std::size_t) == 8 ? DType::kU64 : DType::kU32));
static_assert(dtype_of<char> == (std::is_signed_v<char> ? DType::kS8 : DType::kU8));
static_assert(dtype_of<char8_t> == DType::kU8);
static_assert(dtype_of<char16_t> == DType::kU16);
static_assert(dtype_of<float> == DType::kF32);
static_assert(dtype_of<double> == DType::kF64);
static_assert(dtype_of<long double> == DType::kF64);
static_assert(dtype_of<float16> == DType::kF16);
static_assert(dtype_of<bfloat16> == DType::kBF16);
static_assert(dtype_of<std::complex<float>> == DType::kC64);
static_assert(dtype_of<std::complex<double>> == DType::kC128);
static_assert(!HostScalar<std::complex<int>>);
static_assert(!HostScalar<std::complex<long double>>);
static_assert(!HostScalar<const char*>);
static_assert(!HostScalar<std::nullptr_t>);
static_assert(!HostScalar<std::string>);
static_assert(!HostScalar<DType>);

}  // namespace
}  // namespace rondo
