// The state of a lazy tensor, read by one thread while another one sets it.
#include <atomic>
#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "ir/lazy.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

/// A value that was set between two reads of the cell was taken for one on a device.
TEST(LazyCellThreads, AValueThatComesMeanwhileIsNoneOnADevice) {
  const Literal seven = Literal::scalar(7.0f);
  for (int round = 0; round < 2000; round++) {
    const ir::LazyCell cell((Tensor(seven)));
    std::atomic<bool> polls{false};
    std::thread other([&] {
      while (!polls) std::this_thread::yield();
      auto values = std::make_unique<ir::LazyValues>();
      values->list.push_back(seven);
      cell.set_values(std::move(values));
    });
    const Literal* value = nullptr;
    for (int reads = 1; !value; reads++) {
      value = cell.value(0);
      polls = true;
      if (reads % 1024 == 0) std::this_thread::yield();  // the other may wait for this core
    }
    other.join();
    EXPECT_EQ(value->item<float>(), 7.0f);
  }
}

}  // namespace
}  // namespace rondo::testing
