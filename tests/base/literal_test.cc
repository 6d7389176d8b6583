#include "rondo/literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

bool aligned(const Literal& literal) {
  return reinterpret_cast<std::uintptr_t>(literal.bytes()) % 64 == 0;
}

TEST(Literal, DefaultIsAnEmptyArray) {
  Literal literal;
  EXPECT_EQ(literal.type(), f32({0}));
  EXPECT_EQ(literal.elements(), 0);
  EXPECT_TRUE(literal.data<float>().empty());
  EXPECT_EQ(literal.str(), "f32[0] {}");
  EXPECT_NE(literal.mutable_bytes(), nullptr);
  EXPECT_TRUE(literal.mutable_data<float>().empty());
  EXPECT_TRUE(literal.identical(Literal()));
  EXPECT_EQ(Literal().reinterpreted(s32({0, 3})).type(), s32({0, 3}));
}

TEST(Literal, FromCopiesValuesInRowMajorOrder) {
  std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Literal literal = Literal::from(values, {2, 3});
  values[0] = 9;
  EXPECT_EQ(literal.type(), f32({2, 3}));
  EXPECT_THAT(literal.data<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(aligned(literal));

  EXPECT_EQ(Literal::from({1, 2, 3}, {3}).type(), s32({3}));
  EXPECT_EQ(Literal::from(std::vector<std::int64_t>{1, 2}).type(), s64({2}));
  EXPECT_EQ(Literal::from(std::vector<double>{}).type(), f64({0}));
  const std::array<std::uint8_t, 2> bytes = {7, 8};
  EXPECT_THAT(Literal::from<std::uint8_t>(bytes, {2, 1}).data<std::uint8_t>(), ElementsAre(7, 8));
  EXPECT_THAT(Literal::from(std::vector<std::size_t>{3}).data<std::uint64_t>(), ElementsAre(3));
}

TEST(Literal, SharesMemoryThatIsElsewhere) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = values;
  {
    Literal literal =
        Literal::sharing(std::shared_ptr<const void>(values, values->data()), f32({2, 2}));
    const float* const elements = values->data();
    values.reset();
    EXPECT_EQ(static_cast<const void*>(literal.bytes()), elements);
    EXPECT_THAT(literal.data<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_FALSE(literal.unique());
    const Literal copy = literal, bits = literal.reinterpreted(s32({4}));
    EXPECT_EQ(static_cast<const void*>(bits.bytes()), elements);
    EXPECT_TRUE(copy.identical(Literal::from<float>({1, 2, 3, 4}, {2, 2})));
    // The first write copies, and releases the memory if it was the last to use it.
    literal.mutable_data<float>()[0] = 7;
    EXPECT_NE(static_cast<const void*>(literal.bytes()), elements);
    EXPECT_TRUE(literal.unique());
    EXPECT_EQ(copy.data<float>()[0], 1.0f);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Literal, SharedMemoryMustExistAndBeAligned) {
  EXPECT_THAT([] { (void)Literal::sharing(nullptr, f32({2})); },
              ThrowsMessage<TraceError>(AllOf(HasSubstr("f32[2]"), HasSubstr("no memory"))));
  EXPECT_EQ(Literal::sharing(nullptr, f32({0, 3})).type(), f32({0, 3}));
  const auto bytes = std::make_shared<std::array<double, 3>>();
  const char* const inside = reinterpret_cast<const char*>(bytes->data()) + 4;
  const std::shared_ptr<const void> elements(bytes, inside);
  EXPECT_THAT([&] { (void)Literal::sharing(elements, f64({2})); },
              ThrowsMessage<TraceError>(HasSubstr("aligned to 8 bytes")));
  EXPECT_EQ(Literal::sharing(elements, c64({2})).type(), c64({2}));  // two floats each
}

TEST(Literal, FromBool) {
  const Literal literal = Literal::from(std::vector<bool>{true, false, true}, {3});
  EXPECT_EQ(literal.type(), pred({3}));
  EXPECT_THAT(literal.data<bool>(), ElementsAre(true, false, true));
  EXPECT_THAT(Literal::from({false, true}, {2}).data<bool>(), ElementsAre(false, true));
  EXPECT_EQ(static_cast<int>(literal.bytes()[0]), 1);
}

TEST(Literal, FromChecksTheNumberOfValues) {
  const std::vector<float> five(5);
  EXPECT_THAT(
      [&] {
        Literal::from(five, {2, 3});
      },
      ThrowsMessage<TraceError>(
          "Literal::from: 5 values do not fill f32[2,3], which has 6 elements\n  Give as many "
          "values, or another shape."));
  EXPECT_THROW(Literal::from(five, {}), TraceError);
  EXPECT_THROW(Literal::from(five, {0}), TraceError);
  EXPECT_THROW(Literal::from(std::vector<float>(), {std::int64_t{1} << 62}), TraceError);
}

template <class T>
void expect_scalar(T value, const TensorType& type) {
  const Literal literal = Literal::scalar(value);
  EXPECT_EQ(literal.type(), type);
  const T item = literal.item<T>();
  EXPECT_EQ(std::memcmp(&item, &value, sizeof value), 0) << type;
  EXPECT_EQ(literal.data<T>().size(), 1u);
}

TEST(Literal, ScalarsOfEachDType) {
  expect_scalar(true, pred());
  expect_scalar(std::int8_t{-8}, s8());
  expect_scalar(std::int16_t{-16}, s16());
  expect_scalar(-32, s32());
  expect_scalar(std::numeric_limits<std::int64_t>::min(), s64());
  expect_scalar(std::uint8_t{255}, u8());
  expect_scalar(std::uint16_t{65535}, u16());
  expect_scalar(4000000000u, u32());
  expect_scalar(std::numeric_limits<std::uint64_t>::max(), u64());
  expect_scalar(float16(1.5f), f16());
  expect_scalar(bfloat16(-2.5f), bf16());
  expect_scalar(-0.0f, f32());
  expect_scalar(std::numeric_limits<double>::quiet_NaN(), f64());
  expect_scalar(std::complex<float>(1, -2), c64());
  expect_scalar(std::complex<double>(3, 4), c128());
  expect_scalar('c', TensorType{dtype_of<char>, {}});
}

TEST(Literal, LongDoubleIsStoredAsDouble) {
  const Literal literal = Literal::scalar(2.5L);
  EXPECT_EQ(literal.type(), f64());
  EXPECT_EQ(literal.item<double>(), 2.5);
  EXPECT_EQ(literal.item<long double>(), 2.5L);
}

TEST(Literal, Zeros) {
  EXPECT_THAT(Literal::zeros(s32({2, 2})).data<std::int32_t>(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(Literal::zeros(c64()).item<std::complex<float>>(), std::complex<float>());
  EXPECT_TRUE(Literal::zeros(f64({3, 0})).data<double>().empty());
  // A recycled block has none of its former content.
  for (int i = 0; i < 3; ++i) {
    Literal literal = Literal::zeros(s64({8}));
    EXPECT_THAT(literal.data<std::int64_t>(), Each(0));
    for (std::int64_t& x : literal.mutable_data<std::int64_t>()) x = -1;
  }
}

TEST(Literal, StorageIsAlignedForEverySize) {
  std::vector<Literal> all;
  for (std::int64_t n = 0; n < 6000; n += n < 300 ? 1 : 97) {
    Literal literal = Literal::uninitialized(u8({n}));
    ASSERT_TRUE(aligned(literal)) << n;
    ASSERT_TRUE(literal.unique());
    if (n > 0)
      std::memset(literal.mutable_bytes(), static_cast<int>(n & 255), static_cast<std::size_t>(n));
    all.push_back(std::move(literal));
  }
  for (const Literal& literal : all) {
    const auto n = static_cast<std::uint8_t>(literal.elements() & 255);
    for (const std::uint8_t x : literal.data<std::uint8_t>()) ASSERT_EQ(x, n);
  }
}

TEST(Literal, CopiesShareUntilWritten) {
  Literal a = Literal::from({1, 2, 3}, {3});
  EXPECT_TRUE(a.unique());
  Literal b = a;
  EXPECT_EQ(a.bytes(), b.bytes());
  EXPECT_FALSE(a.unique());
  b.mutable_data<int>()[0] = 9;
  EXPECT_NE(a.bytes(), b.bytes());
  EXPECT_THAT(a.data<int>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(b.data<int>(), ElementsAre(9, 2, 3));
  EXPECT_TRUE(a.unique());
  const std::byte* const before = a.bytes();
  a.mutable_data<int>()[1] = 5;  // the only owner writes in place
  EXPECT_EQ(a.bytes(), before);
}

TEST(Literal, AssignmentReleasesTheFormerStorageAtOnce) {
  Literal old = Literal::from({1, 2, 3}, {3});
  const Literal watch = old;
  Literal source = Literal::from({4}, {1});
  old = std::move(source);
  EXPECT_TRUE(watch.unique());
  EXPECT_THAT(old.data<int>(), ElementsAre(4));
  Literal& alias = old;
  old = alias;
  EXPECT_THAT(old.data<int>(), ElementsAre(4));
  old = std::move(alias);
  EXPECT_THAT(old.data<int>(), ElementsAre(4));
}

TEST(Literal, MovedFromIsSafe) {
  Literal source = Literal::from({1.f, 2.f}, {2});
  const Literal target = std::move(source);
  // NOLINTBEGIN(bugprone-use-after-move): that it is safe is what is tested
  EXPECT_EQ(source.bytes(), nullptr);
  EXPECT_FALSE(source.unique());
  EXPECT_TRUE(source.data<float>().empty());
  EXPECT_EQ(source.str(), "f32[] (moved from)");
  EXPECT_TRUE(source.identical(source));
  EXPECT_FALSE(source.identical(target));
  EXPECT_FALSE(source.identical(Literal::scalar(1.f)));
  EXPECT_FALSE(Literal::scalar(1.f).identical(source));
  const Literal copy = source;
  EXPECT_TRUE(copy.identical(source));
  const auto moved_from =
      ThrowsMessage<TraceError>(HasSubstr("the literal was moved from\n  Assign to it"));
  EXPECT_THAT([&] { source.item<float>(); }, moved_from);
  EXPECT_THAT([&] { source.mutable_bytes(); }, moved_from);
  EXPECT_THAT([&] { source.mutable_data<float>(); }, moved_from);
  EXPECT_THAT([&] { source.reinterpreted(s32()); }, moved_from);
  EXPECT_THAT([&] { source.save_npy("never.npy"); }, moved_from);
  source = target;
  EXPECT_THAT(source.data<float>(), ElementsAre(1, 2));
  // NOLINTEND(bugprone-use-after-move)
}

TEST(Literal, DataOfAnotherTypeNamesTheRightOne) {
  Literal literal = Literal::zeros(f32({3}));
  EXPECT_THAT(
      [&] { literal.data<double>(); },
      ThrowsMessage<TraceError>("data<double>(): the literal is f32[3]\n  Ask for data<float>()."));
  EXPECT_THAT([&] { literal.mutable_data<int>(); },
              ThrowsMessage<TraceError>(HasSubstr("Ask for data<float>()")));
  EXPECT_THAT([&] { Literal::scalar(1).item<float>(); },
              ThrowsMessage<TraceError>(
                  "data<float>(): the literal is s32[]\n  Ask for data<std::int32_t>()."));
  EXPECT_THAT([&] { Literal::zeros(c128({2})).data<bool>(); },
              ThrowsMessage<TraceError>(
                  "data<bool>(): the literal is c128[2]\n  Ask for data<std::complex<double>>()."));
  EXPECT_THAT([&] { Literal::zeros(bf16()).item<float16>(); },
              ThrowsMessage<TraceError>(HasSubstr("Ask for data<rondo::bfloat16>()")));
}

TEST(Literal, ItemOfSeveralElementsNamesTheType) {
  EXPECT_THAT(
      [] {
        Literal::zeros(f32({2, 3})).item<float>();
      },
      ThrowsMessage<TraceError>(
          "item(): the literal is f32[2,3], which has 6 elements, not one\n  Read the elements "
          "through data<float>()."));
  EXPECT_THROW(Literal::zeros(f32({0})).item<float>(), TraceError);
  EXPECT_EQ(Literal::from({7}, {1, 1}).item<int>(), 7);
}

TEST(Literal, ReinterpretedSharesTheBytes) {
  const Literal floats = Literal::from({1.0f, -2.0f}, {2});
  const Literal bits = floats.reinterpreted(u32({2, 1}));
  EXPECT_EQ(bits.type(), u32({2, 1}));
  EXPECT_THAT(bits.data<std::uint32_t>(), ElementsAre(0x3f800000u, 0xc0000000u));
  EXPECT_EQ(bits.bytes(), floats.bytes());

  Literal source = Literal::from({1, 2, 3, 4}, {4});
  const std::byte* const bytes = source.bytes();
  const Literal moved = std::move(source).reinterpreted(s32({2, 2}));
  EXPECT_EQ(moved.bytes(), bytes);
  EXPECT_TRUE(moved.unique());
  EXPECT_EQ(Literal::zeros(pred({2})).reinterpreted(u8({2})).type(), u8({2}));
  EXPECT_EQ(Literal::zeros(pred({2})).reinterpreted(pred({1, 2})).type(), pred({1, 2}));
}

TEST(Literal, ReinterpretedChecks) {
  Literal literal = Literal::zeros(f32({2, 3}));
  EXPECT_THAT([&] { literal.reinterpreted(f32({7})); },
              ThrowsMessage<TraceError>(
                  AllOf(HasSubstr("f32[2,3] of 24 bytes"), HasSubstr("f32[7] has 28"))));
  EXPECT_THROW(std::move(literal).reinterpreted(f64({6})), TraceError);
  EXPECT_EQ(literal.elements(),
            6);  // NOLINT(bugprone-use-after-move): a failure leaves it as it was
  EXPECT_THAT([] { Literal::zeros(u8({2})).reinterpreted(pred({2})); },
              ThrowsMessage<TraceError>(HasSubstr("the bytes of a pred are 0 or 1")));
}

TEST(Literal, IdenticalComparesTypesAndBytes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Literal::from({nan, 1.f}, {2}).identical(Literal::from({nan, 1.f}, {2})));
  EXPECT_FALSE(Literal::scalar(0.0f).identical(Literal::scalar(-0.0f)));
  EXPECT_FALSE(Literal::scalar(nan).identical(Literal::scalar(-nan)));
  EXPECT_FALSE(Literal::scalar(0).identical(Literal::scalar(0u)));
  EXPECT_FALSE(Literal::zeros(f32({2, 1})).identical(Literal::zeros(f32({1, 2}))));
  EXPECT_TRUE(Literal().identical(Literal::zeros(f32({0}))));
}

TEST(Literal, ElementsPastTheAddressSpaceAreAnExecutionError) {
  constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;
  EXPECT_THAT([] { Literal::zeros(f32({std::int64_t{1} << 48})); },
              ThrowsMessage<ExecutionError>(
                  "out of memory: f32[281474976710656] needs 1125899906842624 bytes\n  Make the "
                  "array smaller, or release other arrays first."));
  EXPECT_THROW(Literal::uninitialized(u8({kTwoTo62})), ExecutionError);
  EXPECT_THROW(Literal::uninitialized(u8({kTwoTo62 - 1})), ExecutionError);
  EXPECT_THAT([] { Literal::uninitialized(c128({kTwoTo62})); },
              ThrowsMessage<ExecutionError>(HasSubstr("needs more than 2^63 - 1 bytes")));
  EXPECT_EQ(Literal::zeros(c128({kTwoTo62, 0})).elements(), 0);
}

TEST(Literal, SharedBetweenThreads) {
  const Literal shared = Literal::from({1, 2, 3, 4}, {4});
  std::vector<std::thread> threads;
  std::array<std::int64_t, 4> sums = {};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sums, t, shared] {
      for (int i = 0; i < 500; ++i) {
        Literal mine = shared;
        mine.mutable_data<int>()[0] = t;
        const Literal copy = mine;
        for (const int x : copy.data<int>()) sums[static_cast<std::size_t>(t)] += x;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(sums[static_cast<std::size_t>(t)], 500 * (t + 9));
  EXPECT_THAT(shared.data<int>(), ElementsAre(1, 2, 3, 4));
}

TEST(Literal, Prints) {
  EXPECT_EQ(Literal::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}).str(),
            "f32[2,3] {{1, 2, 3}, {4, 5, 6}}");
  EXPECT_EQ(Literal::scalar(3.0f).str(), "f32[] 3");
  EXPECT_EQ(Literal::from({true, false}, {2}).str(), "pred[2] {true, false}");
  EXPECT_EQ(Literal::scalar(float16(0.1f)).str(), "f16[] 0.1");
  EXPECT_EQ(Literal::from({std::complex<float>(1, -2.5f)}, {1}).str(), "c64[1] {(1, -2.5)}");
  std::ostringstream out;
  out << Literal::scalar(std::int8_t{-5});
  EXPECT_EQ(out.str(), "s8[] -5");
  EXPECT_EQ(Literal::zeros(pred({64})).str().find("..."), std::string::npos);
  EXPECT_EQ(Literal::zeros(s32({65})).str(), "s32[65] {0, 0, 0, ..., 0, 0, 0}");
}

// Results that share storage with an argument whose span is still held.
TEST(Literal, ASpanForWritingReachesNoCopy) {
  Literal a = Literal::from<float>({1, 2, 3}, {3});
  const std::span<float> values = a.mutable_data<float>();
  const Literal copy = a;
  Literal assigned;
  assigned = a;
  values[0] = 7;
  EXPECT_EQ(a.data<float>()[0], 7);
  EXPECT_EQ(copy.data<float>()[0], 1);
  EXPECT_EQ(assigned.data<float>()[0], 1);
  const Literal shared = copy;  // copies have no span
  EXPECT_EQ(shared.bytes(), copy.bytes());
  const Literal moved = std::move(a);
  values[1] = 8;
  EXPECT_EQ(moved.data<float>()[1], 8);
}

}  // namespace
}  // namespace rondo
