// Caches that share one bound in bytes (rondo/cache.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/held_bytes.h"
#include "rondo/detail/reference_count.h"

namespace rondo {

/// The entry that a cache keeps under a key. Users may keep it alive longer.
class CacheSlot {
 public:
  virtual ~CacheSlot() = default;
  /// Records a use by a holder of the slot, without a look-up. Takes no lock.
  void note_use() noexcept {
    if (detail::is_single_threaded())
      uses_.store(uses() + 1, std::memory_order_relaxed);
    else
      uses_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Uses that are recorded but not yet counted among the hits.
  std::int64_t uses() const noexcept { return uses_.load(std::memory_order_relaxed); }

 private:
  friend class CacheStore;
  friend struct CacheContents;
  const void* owner_ = nullptr;  // null once it has left the store
  std::size_t hash_ = 0;
  std::int64_t bytes_ = 0;
  std::atomic<std::int64_t> uses_{0};                      // since the store last counted them
  std::list<std::shared_ptr<CacheSlot>>::iterator place_;  // in the order of use
};

/// The slots of all caches, found by owner and hash. When they exceed their common bound, the least
/// recently used ones are evicted. An evicted slot is destroyed outside the lock, or with its last
/// user.
class CacheStore {
 public:
  using Slots = std::vector<std::shared_ptr<CacheSlot>>;

  /// The slots of an owner under a hash.
  static Slots find(const void* owner, std::size_t hash);
  /// Adds a slot; false, without adding it, if the owner has more slots than `known` under this
  /// hash by now.
  static bool insert(const void* owner, std::size_t hash, std::shared_ptr<CacheSlot> slot,
                     std::int64_t bytes, std::size_t known);
  /// Records that a slot was the one looked for.
  static void use(CacheSlot& slot);
  static void set_bytes(CacheSlot& slot, std::int64_t bytes);
  static void remove(const void* owner);
  static void remove_all();
  /// Adds the size of a slot of this many bytes and of its entry in the store.
  static void count_place(HeldBytes& held, std::size_t bytes);
};

/// A map that may evict entries. Key has `std::size_t hash() const` and ==. Safe on many threads;
/// keys are compared outside the lock that all caches share.
template <class Key, class Value>
class BoundedCache {
 public:
  struct Slot final : CacheSlot {
    explicit Slot(Key of) : key(std::move(of)) {}
    const Key key;
    Value value{};
  };

  /// Adds the size of a slot, without what its key and value hold.
  static void count_slot(HeldBytes& held) { CacheStore::count_place(held, sizeof(Slot)); }

  BoundedCache() = default;
  BoundedCache(const BoundedCache&) = delete;
  BoundedCache& operator=(const BoundedCache&) = delete;
  ~BoundedCache() { CacheStore::remove(this); }

  /// The slot of a key that holds `key_bytes`. A new slot has a default value: the caller fills it,
  /// under a mutex of the value if other threads may find it meanwhile, and reports its size by
  /// set_bytes. The slot stays valid after it was evicted.
  std::shared_ptr<Slot> slot(Key key, std::int64_t key_bytes) {
    const std::size_t hash = key.hash();
    const auto used = [](const CacheStore::Slots& slots, const Key& sought) {
      for (const std::shared_ptr<CacheSlot>& found : slots) {
        auto same = std::static_pointer_cast<Slot>(found);
        if (!(same->key == sought)) continue;
        CacheStore::use(*same);
        return same;
      }
      return std::shared_ptr<Slot>();
    };
    CacheStore::Slots slots = CacheStore::find(this, hash);
    if (auto same = used(slots, key)) return same;
    std::shared_ptr<Slot> made = std::make_shared<Slot>(std::move(key));
    while (!CacheStore::insert(this, hash, made, key_bytes, slots.size())) {
      slots = CacheStore::find(this, hash);
      if (auto same = used(slots, made->key)) return same;
    }
    return made;
  }
  /// Sets what the key and the value of a slot hold together. May evict others.
  void set_bytes(const std::shared_ptr<Slot>& slot, std::int64_t bytes) {
    CacheStore::set_bytes(*slot, bytes);
  }
  void clear() { CacheStore::remove(this); }
};

}  // namespace rondo
