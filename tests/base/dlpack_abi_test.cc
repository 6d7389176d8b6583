// Our structs of DLPack against those of its own header, where that is installed. Not in a unit
// with other sources: both headers are needed here.
#include <gtest/gtest.h>
#include <stdint.h>

#include <cstddef>

namespace own {
#include "rondo/detail/dlpack_abi.h"
}  // namespace own

#undef DLPACK_DLPACK_H_
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>

namespace {

#define EXPECT_SAME_PLACE(type, member)                                        \
  EXPECT_EQ(offsetof(own::type, member), offsetof(::type, member)) << #member; \
  EXPECT_EQ(sizeof(own::type::member), sizeof(::type::member)) << #member

TEST(DlpackAbi, IsThatOfItsHeader) {
  EXPECT_EQ(sizeof(own::DLManagedTensor), sizeof(::DLManagedTensor));
  EXPECT_SAME_PLACE(DLManagedTensor, dl_tensor);
  EXPECT_SAME_PLACE(DLManagedTensor, manager_ctx);
  EXPECT_SAME_PLACE(DLManagedTensor, deleter);
  EXPECT_SAME_PLACE(DLTensor, data);
  EXPECT_SAME_PLACE(DLTensor, device);
  EXPECT_SAME_PLACE(DLTensor, ndim);
  EXPECT_SAME_PLACE(DLTensor, dtype);
  EXPECT_SAME_PLACE(DLTensor, shape);
  EXPECT_SAME_PLACE(DLTensor, strides);
  EXPECT_SAME_PLACE(DLTensor, byte_offset);
  EXPECT_SAME_PLACE(DLDevice, device_type);
  EXPECT_SAME_PLACE(DLDevice, device_id);
  EXPECT_SAME_PLACE(DLDataType, code);
  EXPECT_SAME_PLACE(DLDataType, bits);
  EXPECT_SAME_PLACE(DLDataType, lanes);
  EXPECT_EQ(static_cast<int>(own::kDLCPU), static_cast<int>(::kDLCPU));
  EXPECT_EQ(static_cast<int>(own::kDLCUDA), static_cast<int>(::kDLCUDA));
  EXPECT_EQ(static_cast<int>(own::kDLCUDAHost), static_cast<int>(::kDLCUDAHost));
  EXPECT_EQ(static_cast<int>(own::kDLROCM), static_cast<int>(::kDLROCM));
  EXPECT_EQ(static_cast<int>(own::kDLCUDAManaged), static_cast<int>(::kDLCUDAManaged));
  EXPECT_EQ(static_cast<int>(own::kDLInt), static_cast<int>(::kDLInt));
  EXPECT_EQ(static_cast<int>(own::kDLUInt), static_cast<int>(::kDLUInt));
  EXPECT_EQ(static_cast<int>(own::kDLFloat), static_cast<int>(::kDLFloat));
  EXPECT_EQ(static_cast<int>(own::kDLOpaqueHandle), static_cast<int>(::kDLOpaqueHandle));
  EXPECT_EQ(static_cast<int>(own::kDLBfloat), static_cast<int>(::kDLBfloat));
  EXPECT_EQ(static_cast<int>(own::kDLComplex), static_cast<int>(::kDLComplex));
}

}  // namespace
#endif
