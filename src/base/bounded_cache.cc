#include "base/bounded_cache.h"

#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "rondo/cache.h"
#include "rondo/error.h"

namespace rondo {

struct CacheContents {
  using List = std::list<std::shared_ptr<CacheSlot>>;

  std::mutex mutex;
  List by_use;  // most recently used first
  using ByHash = absl::flat_hash_map<std::size_t, std::vector<CacheSlot*>>;
  absl::flat_hash_map<const void*, ByHash> by_owner;
  CacheStats stats{.limit = std::int64_t{256} << 20};

  static CacheContents& instance() {
    // Never destroyed: tensors and jitted functions of static storage may be used late.
    static auto* contents = new CacheContents;
    return *contents;
  }

  /// True if the slot was used since the last call.
  bool count_uses(CacheSlot& slot) {
    const std::int64_t uses = slot.uses_.exchange(0, std::memory_order_relaxed);
    stats.hits += uses;
    return uses > 0;
  }

  void take(CacheSlot& slot, List& left) {
    count_uses(slot);
    const auto owned = by_owner.find(slot.owner_);
    const auto found = owned->second.find(slot.hash_);
    std::erase(found->second, &slot);
    if (found->second.empty()) owned->second.erase(found);
    if (owned->second.empty()) by_owner.erase(owned);
    slot.owner_ = nullptr;
    stats.executables--;
    stats.bytes -= slot.bytes_;
    left.splice(left.end(), by_use, slot.place_);
  }

  void keep_bound(List& left) {
    // Slots that were used without a look-up move to the front, once: other threads may keep using
    // them.
    std::size_t passed_over = by_use.size();
    while (stats.bytes > stats.limit && by_use.size() > 1) {
      CacheSlot& last = *by_use.back();
      if (count_uses(last) && passed_over-- > 0)
        by_use.splice(by_use.begin(), by_use, last.place_);
      else
        take(last, left);
    }
  }
};

CacheStore::Slots CacheStore::find(const void* owner, std::size_t hash) {
  CacheContents& all = CacheContents::instance();
  std::lock_guard lock(all.mutex);
  Slots slots;
  const auto owned = all.by_owner.find(owner);
  if (owned == all.by_owner.end()) return slots;
  if (const auto found = owned->second.find(hash); found != owned->second.end()) {
    for (const CacheSlot* slot : found->second) slots.push_back(*slot->place_);
  }
  return slots;
}

bool CacheStore::insert(const void* owner, std::size_t hash, std::shared_ptr<CacheSlot> slot,
                        std::int64_t bytes, std::size_t known) {
  CacheContents& all = CacheContents::instance();
  CacheContents::List left;
  std::lock_guard lock(all.mutex);
  auto& slots = all.by_owner[owner][hash];
  if (slots.size() > known) return false;
  slot->owner_ = owner;
  slot->hash_ = hash;
  slot->bytes_ = bytes;
  slots.push_back(slot.get());
  all.by_use.push_front(std::move(slot));
  all.by_use.front()->place_ = all.by_use.begin();
  all.stats.executables++;
  all.stats.bytes += bytes;
  all.stats.misses++;
  all.keep_bound(left);
  return true;
}

void CacheStore::use(CacheSlot& slot) {
  CacheContents& all = CacheContents::instance();
  std::lock_guard lock(all.mutex);
  all.stats.hits++;
  if (slot.owner_) all.by_use.splice(all.by_use.begin(), all.by_use, slot.place_);
}

void CacheStore::set_bytes(CacheSlot& slot, std::int64_t bytes) {
  CacheContents& all = CacheContents::instance();
  CacheContents::List left;
  std::lock_guard lock(all.mutex);
  if (!slot.owner_) return;
  all.stats.bytes += bytes - slot.bytes_;
  slot.bytes_ = bytes;
  all.by_use.splice(all.by_use.begin(), all.by_use, slot.place_);
  all.keep_bound(left);
}

void CacheStore::remove(const void* owner) {
  CacheContents& all = CacheContents::instance();
  CacheContents::List left;
  std::lock_guard lock(all.mutex);
  while (true) {
    const auto owned = all.by_owner.find(owner);
    if (owned == all.by_owner.end()) return;
    all.take(*owned->second.begin()->second.back(), left);
  }
}

void CacheStore::count_place(HeldBytes& held, std::size_t bytes) {
  constexpr std::size_t kControlBlock = 16, kLinks = 16;
  held.block(kControlBlock + bytes);
  held.block(kLinks + sizeof(CacheContents::List::value_type));
  held.block(sizeof(void*));  // the only one with its hash
  // Tables are at least half empty after they have grown: about two thirds are in use.
  held.add((sizeof(CacheContents::ByHash::value_type) + 1) * 3 / 2);
}

void CacheStore::remove_all() {
  CacheContents& all = CacheContents::instance();
  CacheContents::List left;
  std::lock_guard lock(all.mutex);
  while (!all.by_use.empty()) all.take(*all.by_use.front(), left);
}

CacheStats executable_cache() {
  CacheContents& all = CacheContents::instance();
  std::lock_guard lock(all.mutex);
  CacheStats stats = all.stats;
  for (const std::shared_ptr<CacheSlot>& slot : all.by_use) stats.hits += slot->uses();
  return stats;
}

void clear_executable_cache() { CacheStore::remove_all(); }

void limit_executable_cache(std::int64_t bytes) {
  if (bytes < 0) {
    throw Error(
        fmt::format("limit_executable_cache: a limit of {} bytes\n  Give 0 or more.", bytes));
  }
  CacheContents& all = CacheContents::instance();
  CacheContents::List left;
  std::lock_guard lock(all.mutex);
  all.stats.limit = bytes;
  all.keep_bound(left);
}

}  // namespace rondo
