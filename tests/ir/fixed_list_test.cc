#include "ir/fixed_list.h"

#include <memory>

#include "gtest/gtest.h"

namespace rondo::ir {
namespace {

using Shared = std::shared_ptr<int>;
using List = FixedList<Shared, 2>;

TEST(FixedList, HoldsItsElementsUntilItGoes) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 7u}) {
    const Shared element = std::make_shared<int>(3);
    {
      const List list(List::Vector(count, element));
      EXPECT_EQ(list.size(), count);
      EXPECT_EQ(list.empty(), count == 0);
      EXPECT_EQ(static_cast<std::size_t>(element.use_count()), count + 1);
      for (const Shared& each : list) EXPECT_EQ(each, element);
      const List::Vector copy = list;
      EXPECT_EQ(copy, List::Vector(count, element));
    }
    EXPECT_EQ(element.use_count(), 1);
  }
}

TEST(FixedList, KeepsTheOrder) {
  const Shared first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  const List list(first, second);
  EXPECT_EQ(list.front(), first);
  EXPECT_EQ(list[1], second);
  EXPECT_EQ(list.back(), second);
  EXPECT_EQ(list.end() - list.begin(), 2);
}

}  // namespace
}  // namespace rondo::ir
