// The memory of a lower program as C has it: what each pointer points to, and the arrays of the
// workspace in place of an arena of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "c/names.h"
#include "lower/program.h"

namespace rondo::c {

/// An array of the workspace: what buffers of the arena that share memory become.
struct Member {
  std::string name;
  lower::Type type;
  std::int64_t count;
};

/// Where a buffer of the arena is.
struct MemberPlace {
  std::size_t member;
  std::int64_t first;  // element
};

class Memory {
 public:
  /// `arguments`, `results`: the types of their elements. Throws TraceError for memory that the
  /// program uses as elements of different widths.
  Memory(const lower::Program& program, const std::vector<lower::Type>& arguments,
         const std::vector<lower::Type>& results);

  /// What the pointer points to.
  lower::Type element(lower::Value pointer) const;
  /// Whether nothing is written through it, or through a pointer that it may become.
  bool is_const(lower::Value pointer) const;
  bool is_used(std::uint32_t buffer) const { return used_[buffer]; }
  const std::vector<Member>& members() const { return members_; }
  const MemberPlace& place(std::uint32_t buffer) const { return places_.at(buffer); }
  /// Of all members, as a C compiler lays them out.
  std::int64_t workspace_bytes() const;

 private:
  struct Group {
    lower::Type type = lower::Type::kPointer;  // not known yet
    bool written = false;
  };
  std::uint32_t root(std::uint32_t item);
  void join(std::uint32_t a, std::uint32_t b);
  void accessed(lower::Value pointer, lower::Type type, bool writes);
  void fixed(std::uint32_t buffer, lower::Type type);
  void find_groups();
  void spread_by_copies();
  void lay_out();

  const lower::Program& program_;
  std::vector<std::uint32_t> parents_;  // of values, then of buffers
  std::vector<Group> groups_;           // of roots
  std::vector<bool> used_;              // buffers
  std::vector<Member> members_;
  absl::flat_hash_map<std::uint32_t, MemberPlace> places_;
};

}  // namespace rondo::c
