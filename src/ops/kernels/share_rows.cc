#include "ops/kernels/share_rows.h"

#include <algorithm>
#include <thread>

#include "base/parallel.h"
#include "rondo/error.h"

namespace rondo::ops {

namespace {

/// For a helper thread: the thread that called the kernel checks the limits of the run.
class HelpersHost final : public ir::Host {
 public:
  ir::RegionCall& region(const Function&) override { throw InternalError(kAlone); }
  void poll() override {
    if (earlier_piece_failed()) throw InternalError("the rest of a kernel is not needed");
  }
  void tap(std::string_view, const TensorType&, const std::byte*) override {
    throw InternalError(kAlone);
  }
  void print(std::string_view, const TensorType&, const std::byte*) override {
    throw InternalError(kAlone);
  }
  void progress(std::int64_t, std::int64_t) override { throw InternalError(kAlone); }

 private:
  static constexpr const char* kAlone = "a row that is not the kernel's alone is shared";
};

}  // namespace

void share_rows(std::int64_t rows, std::int64_t work, ir::Host& host,
                absl::FunctionRef<void(std::int64_t, std::int64_t, ir::Host&)> f) {
  // Threshold: Work of a kernel whose rows threads share, and of a part: as for loops (kCosts,
  // executor/runtime/pieces.cc). Not measured.
  constexpr std::int64_t kLeastWork = std::int64_t{1} << 20, kWorkOfPart = std::int64_t{1} << 18;
  if (host.threads() < 2 || rows < 2 || work < kLeastWork / rows) return f(0, rows, host);
  const std::int64_t part =
      std::max<std::int64_t>(1, kWorkOfPart / std::max<std::int64_t>(1, work));
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for((rows + part - 1) / part, host.threads(), [&](std::int64_t number) {
    const std::int64_t first = number * part, end = std::min(rows, first + part);
    HelpersHost helpers;
    const bool is_caller = std::this_thread::get_id() == caller;
    if (is_caller) host.poll();
    f(first, end, is_caller ? host : static_cast<ir::Host&>(helpers));
  });
}

}  // namespace rondo::ops
