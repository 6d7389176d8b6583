// Memory for the results of a program that is called again and again.
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

/// Makes the results of the calls that one thread makes of a program. Small ones lie together in
/// blocks, which are used again when all of their results are released, so that a call allocates
/// nothing and a result costs a few stores. Larger ones are allocated one by one: what is kept of a
/// call keeps its block, and should not keep much with it.
class Results {
 public:
  /// A result of more bytes has memory of its own.
  static constexpr std::int64_t kMostPartBytes = 256;
  /// What a block takes at most, and so what a result that is kept can keep with it.
  static constexpr std::size_t kMostBlockBytes = 4096;

  explicit Results(std::span<const TensorType> types);
  Results(Results&& other) noexcept = default;
  Results& operator=(Results&& other) noexcept = default;
  ~Results() = default;

  /// Gives each of `results` a value, whose elements are to be written to its place in `elements`
  /// before anybody reads them. Throws ExecutionError where there is not that much memory.
  void take(std::span<Tensor* const> results, std::byte** elements);

 private:
  /// Results that lie in one block.
  class Group {
   public:
    /// The members are places in `types`.
    Group(std::vector<std::uint32_t> members, std::span<const TensorType> types);
    Group(Group&& other) noexcept;
    Group& operator=(Group&& other) noexcept;
    ~Group();
    void take(std::span<const TensorType> types, std::span<Tensor* const> results,
              std::byte** elements);
    /// Of a block for so many results, whose storage takes so much together.
    static std::size_t block_bytes(std::size_t count, std::size_t storage) noexcept;

   private:
    struct Block;
    Block& free_block(std::span<const TensorType> types);
    Block* new_block(std::span<const TensorType> types) const;
    static void destroy(SharedBlock* block) noexcept;

    /// A state that each call replaces takes two by turns; the others are for callers that keep
    /// the states before.
    static constexpr std::size_t kBlocks = 4;
    std::vector<std::uint32_t> members_;
    std::size_t block_bytes_;
    std::int64_t element_bytes_ = 0;
    Block* blocks_[kBlocks] = {};
    std::size_t made_ = 0;
    std::size_t last_ = 0;  // the one that was taken last
  };

  std::vector<TensorType> types_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> large_;
};

}  // namespace rondo::ir
