// The functions of a text that it calls in several places, and which stay functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "rondo/error.h"
#include "rondo/function.h"

namespace rondo::text {

/// Functions are identified by the address of what was parsed.
class Callees {
 public:
  /// Operations that are read again because a function of several calls cannot stay one.
  static constexpr std::size_t kMostCopies = 1'000'000;

  /// The text has one more call of it.
  void add_call(const void* callee) { calls_[callee]++; }
  /// Whether it has several; a function with one is read where it is called.
  bool has_several(const void* callee) const {
    const auto found = calls_.find(callee);
    return found != calls_.end() && found->second > 1;
  }

  /// The function, which `build` reads by itself, the first time. Null if that fails: it needs to
  /// know the values of its arguments, such as sizes, or calls itself. It is then read again for
  /// each call, where what is wrong with it is reported.
  template <class Build>
  const Function* find(const void* callee, const Build& build) {
    if (functions_.try_emplace(callee).second) {
      try {
        Function function = build();  // may find others
        functions_[callee] = std::move(function);
      } catch (const ParseError&) {
      }
    }
    const Function& function = functions_.at(callee);
    return function.empty() ? nullptr : &function;
  }

  /// Before a function of so many operations is read again. Throws TraceError, naming it, if that
  /// makes too many in all: such copies within copies grow without bound.
  void copy(std::string_view name, std::size_t operations) {
    copies_ += operations + 1;
    if (copies_ <= kMostCopies) return;
    throw TraceError(
        fmt::format("{}: this function is read again for each of its calls, and with others it "
                    "would make more than {} operations\n  Call it in fewer places, or give the "
                    "program fixed shapes, with which a function is read once.",
                    name, kMostCopies),
        {});
  }

 private:
  absl::flat_hash_map<const void*, std::size_t> calls_;
  absl::flat_hash_map<const void*, Function> functions_;
  std::size_t copies_ = 0;
};

}  // namespace rondo::text
