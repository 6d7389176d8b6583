#include "ir/results.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/memory.h"
#include "fmt/format.h"
#include "ir/known_value.h"

namespace rondo::ir {

namespace {

constexpr std::size_t kAlignment = 64;  // of the elements of a literal

// The address sanitizer should detect uses after release, so each call has its own block.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kUsesAgain = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kUsesAgain = false;
#else
constexpr bool kUsesAgain = true;
#endif
#else
constexpr bool kUsesAgain = true;
#endif

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
std::size_t storage_of(const TensorType& type) {
  return KnownValue::kHeaderBytes + aligned(static_cast<std::size_t>(type.bytes()));
}

}  // namespace

/// The block is followed by the values, and these by their elements.
struct Results::Group::Block : SharedBlock {
  Block(std::uint32_t count, std::uint32_t block_class) noexcept
      : SharedBlock(count, Group::destroy), size(count), size_class(block_class) {}

  static std::size_t first_storage(std::size_t count) {
    return aligned(sizeof(Block) + count * sizeof(KnownValue));
  }
  KnownValue* values() noexcept { return reinterpret_cast<KnownValue*>(this + 1); }

  const std::uint32_t size, size_class;
};

Results::Results(std::span<const TensorType> types) : types_(types.begin(), types.end()) {
  std::vector<std::uint32_t> members;
  std::size_t storage = 0;
  for (std::uint32_t i = 0; i < types_.size(); i++) {
    if (types_[i].bytes() > kMostPartBytes) {
      large_.push_back(i);
      continue;
    }
    const std::size_t own = storage_of(types_[i]);
    if (Group::block_bytes(members.size() + 1, storage + own) > kMostBlockBytes) {
      groups_.emplace_back(std::exchange(members, {}), types_);
      storage = 0;
    }
    members.push_back(i);
    storage += own;
  }
  if (!members.empty()) groups_.emplace_back(std::move(members), types_);
}

void Results::take(std::span<Tensor* const> results, std::byte** elements) {
  for (Group& group : groups_) group.take(types_, results, elements);
  for (const std::uint32_t i : large_) *results[i] = make_known(types_[i], elements[i]);
}

Results::Group::Group(std::vector<std::uint32_t> members, std::span<const TensorType> types)
    : members_(std::move(members)), block_bytes_(Block::first_storage(members_.size())) {
  for (const std::uint32_t i : members_) {
    block_bytes_ += storage_of(types[i]);
    element_bytes_ += types[i].bytes();
  }
}
Results::Group::Group(Group&& other) noexcept
    : members_(std::move(other.members_)),
      block_bytes_(other.block_bytes_),
      element_bytes_(other.element_bytes_),
      made_(std::exchange(other.made_, 0)),
      last_(other.last_) {
  std::copy_n(other.blocks_, kBlocks, blocks_);
}
Results::Group& Results::Group::operator=(Group&& other) noexcept {
  std::swap(members_, other.members_);
  std::swap(block_bytes_, other.block_bytes_);
  std::swap(element_bytes_, other.element_bytes_);
  std::swap(blocks_, other.blocks_);
  std::swap(made_, other.made_);
  std::swap(last_, other.last_);
  return *this;
}
Results::Group::~Group() {
  for (std::size_t i = 0; i < made_; i++) blocks_[i]->disown();
}

std::size_t Results::Group::block_bytes(std::size_t count, std::size_t storage) noexcept {
  return Block::first_storage(count) + storage;
}

void Results::Group::take(std::span<const TensorType> types, std::span<Tensor* const> results,
                          std::byte** elements) {
  Block& block = free_block(types);
  KnownValue* value = block.values();
  std::uint64_t id = take_ids(members_.size());
  for (const std::uint32_t i : members_) *results[i] = (value++)->give_out(id++, elements[i]);
  count_taken(element_bytes_);
}

Results::Group::Block& Results::Group::free_block(std::span<const TensorType> types) {
  // Starting from the least recently taken one.
  for (std::size_t k = 0; k < made_; k++) {
    last_ = last_ + 1 < made_ ? last_ + 1 : 0;
    if (!kUsesAgain || !blocks_[last_]->all_released()) continue;
    blocks_[last_]->use_again();
    return *blocks_[last_];
  }
  Block* const block = new_block(types);
  if (made_ < kBlocks) {
    last_ = made_++;
  } else {
    last_ = (last_ + 1) % kBlocks;
    blocks_[last_]->disown();
  }
  return *(blocks_[last_] = block);
}

Results::Group::Block* Results::Group::new_block(std::span<const TensorType> types) const {
  std::uint32_t size_class = 0;
  void* const memory = take_block(block_bytes_ - kAlignment, size_class);
  if (memory == nullptr) {
    throw ExecutionError(
        fmt::format("out of memory: the results of a call need {} bytes\n  Release other arrays "
                    "first.",
                    block_bytes_));
  }
  auto* const block = new (memory) Block(static_cast<std::uint32_t>(members_.size()), size_class);
  KnownValue* value = block->values();
  auto* storage = static_cast<std::byte*>(memory) + Block::first_storage(members_.size());
  for (const std::uint32_t i : members_) {
    ::new (static_cast<void*>(value++)) KnownValue(types[i], storage, *block);
    storage += storage_of(types[i]);
  }
  return block;
}

void Results::Group::destroy(SharedBlock* shared) noexcept {
  auto* const block = static_cast<Block*>(shared);
  for (KnownValue& value : std::span(block->values(), block->size)) {
    value.forget_elements();
    value.~KnownValue();
  }
  const std::uint32_t size_class = block->size_class;
  block->~Block();
  give_block(block, size_class);
}

}  // namespace rondo::ir
