#include "rondo/detail/strided_copy.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace rondo::detail {
namespace {

/// The copy, element by element: position p of the result is that of row-major order.
std::vector<std::byte> copied_element_by_element(const std::byte* from,
                                                 const std::vector<std::int64_t>& dims,
                                                 const std::vector<std::int64_t>& strides,
                                                 std::size_t width) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<std::byte> to(static_cast<std::size_t>(count) * width);
  for (std::int64_t p = 0; p < count; p++) {
    std::int64_t rest = p, offset = 0;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      offset += rest % dims[axis] * strides[axis];
      rest /= dims[axis];
    }
    std::memcpy(to.data() + static_cast<std::size_t>(p) * width, from + offset, width);
  }
  return to;
}

TEST(StridedCopy, IsThatElementByElement) {
  std::vector<std::byte> memory(200000);
  for (std::size_t i = 0; i < memory.size(); i++)
    memory[i] = static_cast<std::byte>(i * 7 + i / 256);
  const std::byte* const middle = memory.data() + memory.size() / 2;
  struct Case {
    std::vector<std::int64_t> dims, strides;  // in elements
  };
  const std::vector<Case> cases = {
      {{}, {}},
      {{5}, {1}},
      {{5}, {-3}},
      {{4}, {0}},
      {{3, 4}, {4, 1}},
      {{3, 4}, {1, 3}},
      {{70, 33}, {1, 70}},
      {{70, 33}, {-33, 1}},
      {{1, 6}, {99, 2}},
      {{2, 0, 3}, {1, 1, 1}},
      {{2, 3, 4}, {1, 2, 6}},
      {{5, 1, 4, 3}, {12, 7, -3, 1}},
      {{2, 3, 2, 3}, {1, 12, 2, 4}},
  };
  for (const std::size_t width : {1u, 2u, 4u, 8u, 16u}) {
    for (const Case& c : cases) {
      std::vector<std::int64_t> from(c.strides), to(c.dims.size());
      for (std::int64_t& stride : from) stride *= static_cast<std::int64_t>(width);
      auto stride = static_cast<std::int64_t>(width);
      for (std::size_t axis = to.size(); axis-- > 0;) {
        to[axis] = stride;
        stride *= c.dims[axis];
      }
      const auto want = copied_element_by_element(middle, c.dims, from, width);
      std::vector<std::byte> got(want.size());
      copy_strided({got.data(), to}, {middle, from}, c.dims, width);
      EXPECT_EQ(got, want) << "width " << width << ", rank " << c.dims.size();
      // And from the dense array into the other layout.
      if (c.strides.empty() || c.strides[0] == 0) continue;
      std::vector<std::byte> spread(memory.size());
      copy_strided({spread.data() + spread.size() / 2, from}, {want.data(), to}, c.dims, width);
      EXPECT_EQ(copied_element_by_element(spread.data() + spread.size() / 2, c.dims, from, width),
                want);
    }
  }
}

}  // namespace
}  // namespace rondo::detail
