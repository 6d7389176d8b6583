// Views like std::mdspan, which no supported compiler has, as tensors.
#include "rondo/strided_view.h"

#include <array>
#include <cstddef>
#include <vector>

#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// The members of std::mdspan that are needed, with any strides.
template <class T, std::size_t kRank>
class View {
 public:
  using element_type = T;
  struct Mapping {};
  View() = default;
  View(T* data, std::array<int, kRank> extents, std::array<int, kRank> strides)
      : data_(data), extents_(extents), strides_(strides) {}
  static constexpr std::size_t rank() { return kRank; }
  int extent(std::size_t axis) const { return extents_[axis]; }
  int stride(std::size_t axis) const { return strides_[axis]; }
  T* data_handle() const { return data_; }
  Mapping mapping() const { return {}; }

 private:
  T* data_ = nullptr;
  std::array<int, kRank> extents_{}, strides_{};
};

static_assert(StridedView<View<const float, 2>> && TreeLeaf<View<const float, 2>>);
static_assert(!StridedView<std::vector<float>> && !StridedView<Tensor>);

TEST(StridedView, IsAConstantOfAnyLayout) {
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const View<const float, 2> right(values.data(), {2, 3}, {3, 1});
  const View<const float, 2> left(values.data(), {2, 3}, {1, 2});
  expect_values<float>(constant(right), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values<float>(constant(left), {2, 3}, {0, 2, 4, 1, 3, 5});
  const View<float, 1> every_other(values.data() + 1, {3}, {2});
  expect_values<float>(Tensor(every_other), {3}, {1, 3, 5});
  const View<float, 3> empty(values.data(), {2, 0, 3}, {1, 1, 1});
  EXPECT_EQ(constant(empty).type(), f32({2, 0, 3}));
  const View<float, 0> scalar(values.data() + 4, {}, {});
  expect_scalar(Tensor(scalar), 4.0f);
}

struct Body {
  Tensor position, mass;
};
struct ViewedBody {
  View<const double, 2> position;
  double mass;
};

TEST(StridedView, IsAnArgumentAlsoInAStruct) {
  const auto total = jit([](Tensor x) { return sum(x, {0}); });
  std::vector<double> values = {1, 2, 3, 4, 5, 6};
  for (int run = 0; run < 3; run++) {
    expect_values<double>(total(View<double, 2>(values.data(), {3, 2}, {1, 3})), {2}, {6, 15});
  }
  const auto moment = jit([](Body b) { return sum(b.position) * b.mass; });
  expect_scalar(moment(ViewedBody{{values.data(), {2, 3}, {3, 1}}, 2.0}), 42.0);
}

}  // namespace
}  // namespace rondo::testing
