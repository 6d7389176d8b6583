// Results of calls share memory that is reused when none of them is in use.
#include "ir/results.h"

#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/known_value.h"
#include "rondo/rondo.h"
#include "support/sanitized.h"

namespace rondo::testing {
namespace {

#if defined(RONDO_TEST_SANITIZED)
constexpr bool kCountsBlocks = false;  // sanitizers see each block once
#else
constexpr bool kCountsBlocks = true;
#endif

/// The results of a call: tensors of these types, whose elements are the call's number and so on.
class Calls {
 public:
  explicit Calls(std::vector<TensorType> types) : types_(std::move(types)), results_(types_) {}

  std::vector<Tensor> call(float number) {
    std::vector<Tensor> tensors(types_.size());
    std::vector<Tensor*> places;
    for (Tensor& tensor : tensors) places.push_back(&tensor);
    elements_.assign(types_.size(), nullptr);
    results_.take(places, elements_.data());
    for (std::size_t i = 0; i < types_.size(); i++) {
      const std::vector<float> values = wanted(number, i);
      if (!values.empty()) std::memcpy(elements_[i], values.data(), values.size() * sizeof(float));
    }
    return tensors;
  }
  std::vector<float> wanted(float number, std::size_t i) const {
    std::vector<float> values(static_cast<std::size_t>(types_[i].elements()));
    std::iota(values.begin(), values.end(), number + static_cast<float>(i) * 0.25f);
    return values;
  }
  void expect(const std::vector<Tensor>& tensors, float number) const {
    for (std::size_t i = 0; i < types_.size(); i++) {
      EXPECT_EQ(tensors[i].type(), types_[i]);
      const Literal value = tensors[i].eval();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(value.bytes()) % 64, 0u) << i;
      const auto data = value.data<float>();
      EXPECT_EQ(std::vector<float>(data.begin(), data.end()), wanted(number, i)) << i;
    }
  }
  /// The addresses of the elements of the last call.
  const std::vector<std::byte*>& elements() const { return elements_; }

 private:
  std::vector<TensorType> types_;
  ir::Results results_;
  std::vector<std::byte*> elements_;
};

std::vector<TensorType> few() { return {f32(), f32({3}), f32({0}), f32({4, 16})}; }
std::vector<TensorType> mixed() { return {f32({100}), f32(), f32({1000}), f32({2, 2})}; }
std::vector<TensorType> many() { return std::vector<TensorType>(100, f32({2})); }

/// Whether literals of a tensor share their elements.
bool shares_elements(const Tensor& tensor) {
  const Literal first = tensor.eval(), second = tensor.eval();
  return first.bytes() == second.bytes();
}

TEST(Results, HaveTheirTypesAndElements) {
  for (const auto& types : {few(), mixed(), many(), std::vector<TensorType>()}) {
    Calls calls(types);
    for (int i = 0; i < 10; i++) {
      const auto number = static_cast<float>(i);
      calls.expect(calls.call(number), number);
    }
  }
}

TEST(Results, StayWhileSomebodyHasThem) {
  for (const auto& types : {few(), mixed(), many()}) {
    Calls calls(types);
    std::vector<std::vector<Tensor>> kept;
    for (int i = 0; i < 20; i++) {
      kept.push_back(calls.call(static_cast<float>(i)));
      // Some of the kept results are released, partly or completely.
      if (i % 3 == 2) kept[static_cast<std::size_t>(i - 1)].clear();
      if (i % 3 == 0) kept[static_cast<std::size_t>(i)].resize(types.size());
    }
    for (std::size_t i = 0; i < kept.size(); i++) {
      if (!kept[i].empty()) calls.expect(kept[i], static_cast<float>(i));
    }
  }
}

TEST(Results, LieInTheSameMemoryAgainWhenAllAreReleased) {
  if (!kCountsBlocks) GTEST_SKIP() << "sanitizers see each block once";
  Calls calls(few());
  static_cast<void>(calls.call(0));
  const std::vector<std::byte*> first = calls.elements();
  static_cast<void>(calls.call(1));
  EXPECT_EQ(calls.elements(), first);
  // A state that each call replaces alternates between two blocks.
  std::vector<Tensor> state = calls.call(2);
  state = calls.call(3);
  const std::vector<std::byte*> second = calls.elements();
  EXPECT_NE(second, first);
  for (int i = 0; i < 5; i++) {
    state = calls.call(0);
    EXPECT_EQ(calls.elements(), i % 2 == 0 ? first : second) << i;
  }
}

TEST(Results, OneThatIsKeptKeepsItsElementsAlone) {
  Calls calls(few());
  Literal kept;
  {
    const std::vector<Tensor> tensors = calls.call(7);
    kept = tensors[1].eval();
  }
  for (int i = 0; i < 10; i++) static_cast<void>(calls.call(100));
  const auto data = kept.data<float>();
  EXPECT_EQ(std::vector<float>(data.begin(), data.end()), calls.wanted(7, 1));
}

TEST(Results, OutliveWhatMadeThem) {
  std::vector<Tensor> tensors;
  {
    Calls calls(few());
    tensors = calls.call(3);
    static_cast<void>(calls.call(4));
  }
  const Calls same(few());
  same.expect(tensors, 3);
  tensors.pop_back();
  tensors.erase(tensors.begin());
  EXPECT_EQ(tensors[0].eval().data<float>()[2], 3 + 0.25f + 2);
}

TEST(Results, AreNodesWhereAProgramUsesThem) {
  Calls calls(few());
  Tensor node;
  {
    const std::vector<Tensor> tensors = calls.call(5);
    node = Tensor::of(tensors[0].node());
    EXPECT_TRUE(node.same_as(tensors[0]));
  }
  for (int i = 0; i < 10; i++) {
    const std::vector<Tensor> others = calls.call(50);
    EXPECT_EQ(others[0].value()->node_if_made(), nullptr) << i;
    EXPECT_FALSE(node.same_as(others[0]));
    EXPECT_GT(others[0].node()->id, node.node()->id);
  }
  EXPECT_EQ(node.item<float>(), 5);
}

TEST(Results, AreNotChangedByWhoWritesToACopy) {
  Calls calls(few());
  for (int i = 0; i < 10; i++) {
    const std::vector<Tensor> tensors = calls.call(1);
    Literal copy = tensors[1].eval();
    copy.mutable_data<float>()[0] = 99;
    calls.expect(tensors, 1);
    // Literals of later results share their elements, as usual.
    EXPECT_TRUE(shares_elements(tensors[1])) << i;
  }
}

TEST(Results, MayBeWrittenToByTheirLastHolder) {
  Calls calls(few());
  for (int i = 0; i < 10; i++) {
    Literal only;
    {
      const std::vector<Tensor> tensors = calls.call(1);
      only = tensors[1].eval();
    }
    only.mutable_data<float>()[0] = 99;
    const Literal other = only;  // a separate copy: a span is still held
    EXPECT_NE(other.bytes(), only.bytes());
    const std::vector<Tensor> next = calls.call(2);
    EXPECT_TRUE(shares_elements(next[1])) << i;
    calls.expect(next, 2);
    EXPECT_EQ(other.data<float>()[0], 99);
  }
}

TEST(Results, MayBeReleasedByOtherThreads) {
  Calls calls(many());
  std::vector<std::byte*> first;
  for (int i = 0; i < 50; i++) {
    const auto number = static_cast<float>(i);
    std::vector<Tensor> tensors = calls.call(number);
    if (i == 0) first = calls.elements();
    std::vector<Tensor> half(tensors.begin(), tensors.begin() + 50);
    std::thread other([&calls, number, taken = std::move(tensors)]() mutable {
      calls.expect(taken, number);
      taken.clear();
    });
    half.clear();
    other.join();
  }
  if (kCountsBlocks) {
    EXPECT_EQ(calls.elements(), first);
  }
}

TEST(Results, OfAThreadThatHasEndedStay) {
  std::vector<Tensor> kept;
  const auto step = jit([](Tensor x, Tensor y) { return std::array{x + y, x - y, x * y}; });
  std::thread([&] {
    for (int i = 0; i < 10; i++) {
      for (const Tensor& result : step(static_cast<float>(i), 2.0f)) kept.push_back(result);
    }
  }).join();
  for (std::size_t i = 0; i < 10; i++) {
    const auto x = static_cast<float>(i);
    EXPECT_EQ(kept[3 * i].item<float>(), x + 2);
    EXPECT_EQ(kept[3 * i + 1].item<float>(), x - 2);
    EXPECT_EQ(kept[3 * i + 2].item<float>(), x * 2);
  }
}

TEST(Results, OfThreadsThatHandThemOnAreRight) {
  const auto step = jit([](Tensor x) { return std::pair(x + 1, x * 2); });
  std::array<std::vector<Tensor>, 4> sums;
  std::vector<std::thread> threads;
  for (auto& own : sums) {
    threads.emplace_back([&own, &step] {
      std::vector<std::thread> readers;
      for (int i = 0; i < 20; i++) {
        auto results = step(static_cast<float>(i));
        own.push_back(results.first);
        readers.emplace_back([i, taken = std::move(results)] {
          EXPECT_EQ(taken.second.item<float>(), static_cast<float>(2 * i));
        });
      }
      for (std::thread& reader : readers) reader.join();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : sums) {
    for (std::size_t i = 0; i < own.size(); i++)
      EXPECT_EQ(own[i].item<float>(), static_cast<float>(i + 1));
  }
}

/// Calls the function as the thread ends, after its last-run table was destroyed.
struct CallsAtTheEnd {
  const std::function<void()>* call = nullptr;
  ~CallsAtTheEnd() {
    if (call) (*call)();
  }
};

TEST(Results, OfCallsAtTheEndOfAThreadAreRight) {
  const auto step = jit([](Tensor x) { return std::pair(x + 1, x * 2); });
  int right = 0;
  const std::function<void()> call = [&] { right += step(3.0f).second.item<float>() == 6; };
  std::thread([&] {
    thread_local CallsAtTheEnd last;  // made before, so destroyed after
    last.call = &call;
    for (int i = 0; i < 3; i++) call();
  }).join();
  EXPECT_EQ(right, 4);
}

}  // namespace
}  // namespace rondo::testing
