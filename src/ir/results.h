// Memory for the results of a program that is called repeatedly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/shared_block.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo::ir {

/// Creates the results of one thread's calls of a program. Small ones share blocks, which are
/// reused when all of their results are released, so a call allocates nothing and a result costs a
/// few stores. Larger ones are allocated separately: a result that is kept keeps its block, and
/// should not keep much with it.
class Results {
 public:
  /// A larger result has separate memory.
  static constexpr std::int64_t kMostPartBytes = 256;
  /// The maximum size of a block, and so of what a kept result can keep with it.
  static constexpr std::size_t kMostBlockBytes = 4096;

  explicit Results(std::span<const TensorType> types);
  Results(Results&& other) noexcept = default;
  Results& operator=(Results&& other) noexcept = default;
  ~Results() = default;

  /// Gives each of `results` a value, whose elements the caller writes to its address in `elements`
  /// before they are read. Throws ExecutionError if there is not enough memory.
  void take(std::span<Tensor* const> results, std::byte** elements);

 private:
  /// Results that share one block.
  class Group {
   public:
    /// The members are positions in `types`.
    Group(std::vector<std::uint32_t> members, std::span<const TensorType> types);
    Group(Group&& other) noexcept;
    Group& operator=(Group&& other) noexcept;
    ~Group();
    void take(std::span<const TensorType> types, std::span<Tensor* const> results,
              std::byte** elements);
    /// The size of a block for `count` results with `storage` bytes together.
    static std::size_t block_bytes(std::size_t count, std::size_t storage) noexcept;

   private:
    struct Block;
    Block& free_block(std::span<const TensorType> types);
    Block* new_block(std::span<const TensorType> types) const;
    static void destroy(SharedBlock* block) noexcept;

    /// A state that each call replaces alternates between two; the others are for callers that keep
    /// previous states.
    static constexpr std::size_t kBlocks = 4;
    std::vector<std::uint32_t> members_;
    std::size_t block_bytes_;
    std::int64_t element_bytes_ = 0;
    Block* blocks_[kBlocks] = {};
    std::size_t made_ = 0;
    std::size_t last_ = 0;  // the one taken last
  };

  std::vector<TensorType> types_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> large_;
};

}  // namespace rondo::ir
