#include "executor/arena.h"

#include <algorithm>

#include "rondo/error.h"

namespace rondo::executor {

namespace {

// More than any machine has. Sizes and offsets below it can be rounded and added without overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

std::int64_t pages_of(std::int64_t bytes) { return (bytes + page_bytes() - 1) / page_bytes(); }

}  // namespace

std::int64_t Arena::allocate_guarded(std::int64_t bytes) {
  const std::int64_t pages = pages_of(bytes);
  std::int64_t first = end_;
  if (const auto free = free_pages_.find(pages); free != free_pages_.end()) {
    first = free->second;
    free_pages_.erase(free);
  } else {
    end_ += (pages + 1) * page_bytes();
    size_ = end_;
  }
  return first + pages * page_bytes() - bytes;
}

std::int64_t Arena::allocate(std::int64_t bytes) {
  if (bytes > kMostBytes - end_) {
    throw ExecutionError(
        "a program takes more than 2^62 bytes beside its arguments and results\n  Make its arrays "
        "smaller.");
  }
  if (guarded_) return allocate_guarded(bytes);
  bytes = std::max(rounded(bytes), kAlignment);
  // Best fit, so that large places stay whole.
  auto best = free_.end();
  for (auto place = free_.begin(); place != free_.end(); ++place) {
    if (place->second >= bytes && (best == free_.end() || place->second < best->second))
      best = place;
  }
  if (best != free_.end()) {
    const auto [offset, size] = *best;
    free_.erase(best);
    if (size > bytes) free_.emplace(offset + bytes, size - bytes);
    return offset;
  }
  // The last free place is extended if it is at the end of the arena.
  std::int64_t offset = end_;
  if (!free_.empty()) {
    const auto last = std::prev(free_.end());
    if (last->first + last->second == end_) {
      offset = last->first;
      free_.erase(last);
    }
  }
  end_ = offset + bytes;
  size_ = std::max(size_, end_);
  return offset;
}

void Arena::release(std::int64_t offset, std::int64_t bytes) {
  if (guarded_) {
    const std::int64_t pages = pages_of(bytes);
    free_pages_.emplace(pages, offset + bytes - pages * page_bytes());
    return;
  }
  bytes = std::max(rounded(bytes), kAlignment);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

}  // namespace rondo::executor
