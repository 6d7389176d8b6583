// Arrays handed over by DLPack in this process; tests/dlpack has NumPy on the other side.
#include "rondo/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "errors/message.h"

namespace rondo {
namespace {

using ::testing::ElementsAre;
using testing::expect_parts, testing::message_of;

/// A producer, which counts the calls of its deleter.
struct Exporter {
  DLManagedTensor tensor{};
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;

  Exporter(void* data, DLDataType type, std::vector<std::int64_t> dims,
           std::vector<std::int64_t> element_strides = {})
      : shape(std::move(dims)), strides(std::move(element_strides)) {
    tensor.dl_tensor.data = data;
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = static_cast<int>(shape.size());
    tensor.dl_tensor.dtype = type;
    tensor.dl_tensor.shape = shape.data();
    tensor.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) {
      static_cast<Exporter*>(self->manager_ctx)->deleted++;
    };
  }
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
};

constexpr DLDataType kFloat32 = {2, 32, 1};
constexpr DLDataType kBool = {6, 8, 1};  // DLPack has it since 0.7

std::vector<float> counting_floats(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

const void* address(const Literal& literal) { return literal.bytes(); }

TEST(FromDlpack, KeepsADenseArrayUntilTheLastLiteralIsGone) {
  std::vector<float> values = counting_floats(6);
  Exporter from(values.data(), kFloat32, {2, 3}, {3, 1});
  {
    Literal literal = from_dlpack(&from.tensor);
    EXPECT_EQ(literal.type(), f32({2, 3}));
    EXPECT_EQ(address(literal), values.data());
    EXPECT_FALSE(literal.unique());
    Literal copy = literal;
    EXPECT_EQ(address(copy), values.data());
    // A write does not reach the producer's memory.
    copy.mutable_data<float>()[0] = 9;
    EXPECT_EQ(values[0], 0.0f);
    EXPECT_EQ(literal.data<float>()[0], 0.0f);
    copy = Literal();
    EXPECT_EQ(from.deleted, 0);
    const Literal moved = std::move(literal);
    EXPECT_EQ(from.deleted, 0);
    const Literal bits = moved.reinterpreted(s32({6}));
    EXPECT_EQ(address(bits), values.data());
  }
  EXPECT_EQ(from.deleted, 1);
}

TEST(FromDlpack, WithoutStridesIsDense) {
  std::vector<float> values = counting_floats(4);
  Exporter from(values.data(), kFloat32, {2, 2});
  {
    const Literal literal = from_dlpack(&from.tensor);
    EXPECT_EQ(address(literal), values.data());
    EXPECT_THAT(literal.data<float>(), ElementsAre(0, 1, 2, 3));
  }
  EXPECT_EQ(from.deleted, 1);
}

TEST(FromDlpack, CopiesOtherStrides) {
  std::vector<float> values = counting_floats(12);
  {
    Exporter transposed(values.data(), kFloat32, {3, 2}, {1, 3});
    EXPECT_THAT(from_dlpack(&transposed.tensor).data<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
    EXPECT_EQ(transposed.deleted, 1);
  }
  {
    Exporter reversed(values.data() + 11, kFloat32, {3}, {-5});
    EXPECT_THAT(from_dlpack(&reversed.tensor).data<float>(), ElementsAre(11, 6, 1));
    EXPECT_EQ(reversed.deleted, 1);
  }
  {
    Exporter broadcast(values.data(), kFloat32, {2, 3}, {0, 1});
    EXPECT_THAT(from_dlpack(&broadcast.tensor).data<float>(), ElementsAre(0, 1, 2, 0, 1, 2));
  }
  {
    Exporter every_other(values.data(), kFloat32, {2, 2, 2}, {6, 4, 1});
    EXPECT_THAT(from_dlpack(&every_other.tensor).data<float>(),
                ElementsAre(0, 1, 4, 5, 6, 7, 10, 11));
  }
  // The stride of an axis of one element says nothing.
  Exporter one_row(values.data(), kFloat32, {1, 3}, {77, 1});
  const Literal kept = from_dlpack(&one_row.tensor);
  EXPECT_EQ(address(kept), values.data());
}

TEST(FromDlpack, StartsAtTheByteOffset) {
  std::vector<float> values = counting_floats(5);
  Exporter from(values.data(), kFloat32, {2});
  from.tensor.dl_tensor.byte_offset = 3 * sizeof(float);
  const Literal literal = from_dlpack(&from.tensor);
  EXPECT_EQ(address(literal), values.data() + 3);
  EXPECT_THAT(literal.data<float>(), ElementsAre(3, 4));
}

TEST(FromDlpack, CopiesWhatIsNotAligned) {
  alignas(8) std::array<char, 24> bytes{};
  const std::array<double, 2> numbers = {1.5, -2};
  std::copy_n(reinterpret_cast<const char*>(numbers.data()), 16, bytes.data() + 4);
  Exporter from(bytes.data() + 4, {2, 64, 1}, {2});
  EXPECT_THAT(from_dlpack(&from.tensor).data<double>(), ElementsAre(1.5, -2));
  EXPECT_EQ(from.deleted, 1);
}

TEST(FromDlpack, MakesPredsOfOtherBytes) {
  std::array<unsigned char, 3> fine = {1, 0, 1};
  Exporter kept(fine.data(), kBool, {3});
  const Literal literal = from_dlpack(&kept.tensor);
  EXPECT_EQ(literal.type(), pred({3}));
  EXPECT_EQ(address(literal), fine.data());
  std::array<unsigned char, 3> other = {0, 2, 255};
  Exporter copied(other.data(), kBool, {3});
  EXPECT_THAT(from_dlpack(&copied.tensor).data<bool>(), ElementsAre(false, true, true));
  EXPECT_EQ(copied.deleted, 1);
}

TEST(FromDlpack, TakesArraysWithoutElements) {
  Exporter from(nullptr, kFloat32, {2, 0}, {1, 1});
  EXPECT_EQ(from_dlpack(&from.tensor).type(), f32({2, 0}));
  EXPECT_EQ(from.deleted, 1);
  float number = 4;
  Exporter scalar(&number, kFloat32, {});
  EXPECT_EQ(from_dlpack(&scalar.tensor).item<float>(), 4.0f);
}

/// The array, changed by `spoil`, is refused with all these parts, and released once.
template <class Spoil>
void expect_refused(const std::vector<std::string>& parts, Spoil spoil) {
  std::vector<float> values = counting_floats(6);
  Exporter from(values.data(), kFloat32, {2, 3}, {3, 1});
  spoil(from);
  expect_parts(message_of([&] { (void)from_dlpack(&from.tensor); }), parts);
  EXPECT_EQ(from.deleted, 1);
}

TEST(FromDlpack, RefusesWhatDoesNotFitAndReleasesItOnce) {
  expect_parts(message_of([] { (void)from_dlpack(static_cast<DLManagedTensor*>(nullptr)); }),
               {"from_dlpack", "null"});
  expect_refused({"another device", "CUDA"},
                 [](Exporter& from) { from.tensor.dl_tensor.device.device_type = kDLCUDA; });
  expect_refused({"4 lanes"}, [](Exporter& from) { from.tensor.dl_tensor.dtype.lanes = 4; });
  expect_refused({"float of 128 bits"},
                 [](Exporter& from) { from.tensor.dl_tensor.dtype.bits = 128; });
  expect_refused({"opaque handle"}, [](Exporter& from) { from.tensor.dl_tensor.dtype.code = 3; });
  expect_refused({"code 99"}, [](Exporter& from) { from.tensor.dl_tensor.dtype.code = 99; });
  expect_refused({"int of 4 bits"}, [](Exporter& from) {
    from.tensor.dl_tensor.dtype = {0, 4, 1};
  });
  expect_refused({"axis 1 has size -3"}, [](Exporter& from) { from.shape[1] = -3; });
  expect_refused({"-1 axes"}, [](Exporter& from) { from.tensor.dl_tensor.ndim = -1; });
  expect_refused({"no sizes"}, [](Exporter& from) { from.tensor.dl_tensor.shape = nullptr; });
  expect_refused({"f32[2,3] has no memory"},
                 [](Exporter& from) { from.tensor.dl_tensor.data = nullptr; });
  expect_refused({"axis 0", "stride", "address space"},
                 [](Exporter& from) { from.strides[0] = INT64_MAX / 2; });
  expect_refused({"elements"}, [](Exporter& from) {
    from.shape = {INT64_MAX, INT64_MAX};
    from.tensor.dl_tensor.shape = from.shape.data();
  });
}

TEST(FromDlpack, AcceptsAProducerWithoutADeleter) {
  float number = 2;
  Exporter from(&number, kFloat32, {1});
  from.tensor.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&from.tensor).item<float>(), 2.0f);
}

TEST(ToDlpack, SharesTheStorageUntilItIsReleased) {
  Literal literal = Literal::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  DLManagedTensor* const tensor = to_dlpack(literal);
  const DLTensor& array = tensor->dl_tensor;
  EXPECT_EQ(array.data, address(literal));
  EXPECT_EQ(array.device.device_type, kDLCPU);
  EXPECT_EQ(array.ndim, 2);
  EXPECT_EQ(array.dtype.code, kDLFloat);
  EXPECT_EQ(array.dtype.bits, 32);
  EXPECT_EQ(array.dtype.lanes, 1);
  EXPECT_EQ(array.shape[0], 2);
  EXPECT_EQ(array.shape[1], 3);
  EXPECT_EQ(array.strides[0], 3);
  EXPECT_EQ(array.strides[1], 1);
  EXPECT_EQ(array.byte_offset, 0u);
  // A write to the literal copies; the consumer keeps the elements.
  literal.mutable_data<float>()[0] = 9;
  EXPECT_NE(array.data, address(literal));
  literal = Literal();
  EXPECT_EQ(static_cast<const float*>(array.data)[0], 1.0f);
  tensor->deleter(tensor);
}

TEST(ToDlpack, OfStorageThatASpanWritesIsACopy) {
  Literal literal = Literal::from<float>({1, 2}, {2});
  const std::span<float> span = literal.mutable_data<float>();
  DLManagedTensor* const tensor = to_dlpack(literal);
  span[0] = 7;
  EXPECT_EQ(static_cast<const float*>(tensor->dl_tensor.data)[0], 1.0f);
  tensor->deleter(tensor);
}

TEST(ToDlpack, ReturnsAsTheSameArray) {
  for (int i = 0; i < kDTypeCount; i++) {
    const auto dtype = static_cast<DType>(i);
    const bool is_packed = bit_width(dtype) < 8;
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{2, 1, 3}}) {
      const Literal literal = Literal::zeros({dtype, shape});
      if (is_packed) {
        expect_parts(message_of([&] { (void)to_dlpack(literal); }),
                     {std::string(dtype_name(dtype)), "packs"});
        continue;
      }
      const Literal again = from_dlpack(to_dlpack(literal));
      EXPECT_TRUE(again.identical(literal)) << literal.type();
      if (literal.elements() == 0) continue;
      EXPECT_EQ(address(again), address(literal)) << literal.type();
    }
  }
  const auto numbers = Literal::from<std::complex<float>>({{1, 2}, {3, -4}}, {2});
  EXPECT_TRUE(from_dlpack(to_dlpack(numbers)).identical(numbers));
}

TEST(ToDlpack, RefusesALiteralThatWasMovedFrom) {
  Literal literal = Literal::from<float>({1}, {1});
  const Literal taken = std::move(literal);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the test
  expect_parts(message_of([&] { (void)to_dlpack(literal); }), {"to_dlpack", "moved from"});
}

// --- the struct of DLPack 1

// Its specification: the fields up to the flags keep their place in all later versions.
static_assert(offsetof(DLManagedTensorVersioned, version) == 0);
static_assert(offsetof(DLPackVersion, minor) == 4 && sizeof(DLPackVersion) == 8);
static_assert(offsetof(DLManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(DLManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

/// The array of an Exporter, as a versioned producer of it.
struct VersionedExporter {
  Exporter array;
  DLManagedTensorVersioned tensor{};

  VersionedExporter(void* data, std::vector<std::int64_t> dims,
                    std::vector<std::int64_t> element_strides, DLPackVersion version = {1, 0})
      : array(data, kFloat32, std::move(dims), std::move(element_strides)) {
    tensor.version = version;
    tensor.dl_tensor = array.tensor.dl_tensor;
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensorVersioned* self) {
      static_cast<VersionedExporter*>(self->manager_ctx)->array.deleted++;
    };
  }
};

TEST(VersionedDlpack, SharesAnArrayWithAnyFlagsAndNeverWritesToIt) {
  for (const std::uint64_t flags :
       {std::uint64_t{0}, std::uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY},
        std::uint64_t{DLPACK_FLAG_BITMASK_IS_COPIED}, std::uint64_t{1} << 40}) {
    std::vector<float> values = counting_floats(6);
    VersionedExporter from(values.data(), {2, 3}, {3, 1});
    from.tensor.flags = flags;
    {
      Literal literal = from_dlpack(&from.tensor);
      EXPECT_EQ(address(literal), values.data());
      Literal written = literal;
      written.mutable_data<float>()[0] = 9;
      EXPECT_EQ(values[0], 0.0f);
      EXPECT_EQ(from.array.deleted, 0);
    }
    EXPECT_EQ(from.array.deleted, 1);
  }
}

TEST(VersionedDlpack, CopiesOtherStridesAndReleases) {
  std::vector<float> values = counting_floats(6);
  VersionedExporter from(values.data(), {3, 2}, {1, 3}, {1, 99});
  EXPECT_THAT(from_dlpack(&from.tensor).data<float>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(from.array.deleted, 1);
}

// Of another major version only the version and the deleter may be read.
TEST(VersionedDlpack, RefusesAnotherMajorVersionAndReleasesIt) {
  for (const std::uint32_t major : {0u, 2u}) {
    VersionedExporter from(nullptr, {}, {}, {major, 3});
    from.tensor.dl_tensor.ndim = -77;
    expect_parts(message_of([&] { (void)from_dlpack(&from.tensor); }),
                 {"from_dlpack", "DLPack " + std::to_string(major) + ".3", "max_version"});
    EXPECT_EQ(from.array.deleted, 1);
  }
  expect_parts(
      message_of([] { (void)from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)); }),
      {"from_dlpack", "null"});
}

TEST(VersionedDlpack, RefusesWhatTheOtherStructRefuses) {
  float number = 1;
  VersionedExporter from(&number, {1}, {1});
  from.tensor.dl_tensor.device.device_type = kDLCUDA;
  expect_parts(message_of([&] { (void)from_dlpack(&from.tensor); }), {"another device", "CUDA"});
  EXPECT_EQ(from.array.deleted, 1);
}

TEST(VersionedDlpack, IsReadOnlyAndReturnsAsTheSameArray) {
  Literal literal = Literal::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  DLManagedTensorVersioned* const tensor = to_dlpack_versioned(literal);
  EXPECT_EQ(tensor->version.major, 1u);
  EXPECT_EQ(tensor->flags, std::uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY});
  EXPECT_EQ(tensor->dl_tensor.data, address(literal));
  EXPECT_EQ(tensor->dl_tensor.shape[1], 3);
  const Literal again = from_dlpack(tensor);
  EXPECT_EQ(address(again), address(literal));
  literal.mutable_data<float>()[0] = 9;
  EXPECT_EQ(again.data<float>()[0], 1.0f);
  expect_parts(message_of([] {
                 (void)to_dlpack_versioned(Literal::zeros({DType::kS4, {2}}));
               }),
               {"to_dlpack_versioned", "s4", "packs"});
}

}  // namespace
}  // namespace rondo
