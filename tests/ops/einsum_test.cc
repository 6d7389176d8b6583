// einsum tensordot vdot inner, against plain loops and NumPy.
#include <algorithm>
#include <map>

#include "ops/moved.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

/// A term for each operand, the result, and the size of each letter.
struct Spec {
  std::vector<std::string> terms;
  std::string result;
  std::map<char, std::int64_t> sizes;

  std::string text() const {
    std::string all;
    for (const std::string& term : terms) all += ", " + term;
    return all.substr(2) + " -> " + result;
  }
  Shape shape(const std::string& term) const {
    std::vector<std::int64_t> dims;
    for (const char letter : term) dims.push_back(sizes.at(letter));
    return dims;
  }
  std::int64_t place(const std::string& term, const std::map<char, std::int64_t>& index) const {
    std::int64_t place = 0;
    for (const char letter : term) place = place * sizes.at(letter) + index.at(letter);
    return place;
  }
};

/// The definition: one loop over all letters.
std::vector<std::int64_t> by_loops(const Spec& spec,
                                   const std::vector<std::vector<std::int64_t>>& operands) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(spec.shape(spec.result).elements()));
  std::map<char, std::int64_t> index;
  for (const auto& [letter, size] : spec.sizes) {
    if (size == 0) return result;
    index[letter] = 0;
  }
  for (;;) {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < operands.size(); i++)
      product *= operands[i][static_cast<std::size_t>(spec.place(spec.terms[i], index))];
    result[static_cast<std::size_t>(spec.place(spec.result, index))] += product;
    auto letter = index.begin();
    while (letter != index.end() && ++letter->second == spec.sizes.at(letter->first))
      (letter++)->second = 0;
    if (letter == index.end()) return result;
  }
}

Spec drawn_spec(Shapes& shapes, std::size_t operands, std::int64_t letters) {
  Spec spec;
  std::string used;
  for (std::size_t i = 0; i < operands; i++) {
    std::string term;
    for (std::int64_t rank = shapes.number(0, 3); rank > 0; rank--)
      term += static_cast<char>('a' + shapes.number(0, letters - 1));
    used += term;
    spec.terms.push_back(term);
  }
  for (const char letter : used) {
    if (!spec.sizes.contains(letter))
      spec.sizes[letter] = shapes.number(0, 30) == 0 ? 0 : shapes.number(1, 3);
  }
  for (const auto& [letter, size] : spec.sizes)
    if (shapes.number(0, 2) == 0) spec.result += letter;
  std::shuffle(spec.result.begin(), spec.result.end(), shapes.engine());
  return spec;
}

TEST(Einsum, IsALoopOverAllLetters) {
  Shapes shapes(8);
  for (int repeat = 0; repeat < 120; repeat++) {
    // More than 8 operands take the greedy order.
    const std::size_t count = static_cast<std::size_t>(repeat % 20 == 0 ? 10 : shapes.number(1, 4));
    const Spec spec = drawn_spec(shapes, count, 5);
    std::vector<std::vector<std::int64_t>> values;
    std::vector<Tensor> operands;
    for (const std::string& term : spec.terms) {
      std::vector<std::int64_t> some;
      for (std::int64_t i = spec.shape(term).elements(); i > 0; i--)
        some.push_back(shapes.number(-3, 3));
      operands.push_back(Literal::from(some, spec.shape(term)));
      values.push_back(std::move(some));
    }
    SCOPED_TRACE(spec.text());
    expect_values(einsum(spec.text(), operands), spec.shape(spec.result), by_loops(spec, values));
  }
}

// numpy.einsum of version 2.4.
TEST(Einsum, WithoutAnArrowAndWithDots) {
  const Tensor a = reshape(arange(6), {2, 3}), b = reshape(arange(12), {3, 4}),
               c = reshape(arange(12), {2, 2, 3});
  expect_values<std::int32_t>(einsum("ij,jk", a, b), {2, 4}, {20, 23, 26, 29, 56, 68, 80, 92});
  expect_values<std::int32_t>(einsum("ba", a), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_values<std::int32_t>(einsum("ii", matmul(a, transpose(a))), {}, {55});
  expect_values<std::int32_t>(einsum("i...->...", a), {3}, {3, 5, 7});
  expect_values<std::int32_t>(einsum("...", a), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values<std::int32_t>(einsum("...j,j", c, arange(3)), {2, 2}, {5, 14, 23, 32});
  expect_values<std::int32_t>(einsum("...i,...i->...", c, a), {2, 2}, {5, 50, 23, 122});
  expect_values<std::int32_t>(einsum("...ij,...kj->k...i", c, c), {2, 2, 2},
                              {5, 14, 149, 212, 14, 50, 212, 302});
  expect_values<std::int32_t>(einsum(",ij->", 2, a), {}, {30});
  expect_values<std::int32_t>(einsum("ij,j->ij", a, constant({10})), {2, 3},
                              {0, 10, 20, 30, 40, 50});  // an axis of size 1 repeats
  expect_values<std::int32_t>(einsum("Ab,bA", a, transpose(a)), {}, {55});
}

TEST(Einsum, ChoosesTheOrderOfFewestProducts) {
  const std::vector<Tensor> x{zeros(f32({100, 2})), zeros(f32({2, 100})), zeros(f32({100, 3})),
                              zeros(f32({3}))};
  // From the right: vectors alone. From the left there would be a matrix of 100 x 100.
  const Function chain = trace(
      [](Tensor a, Tensor b, Tensor c, Tensor d) { return einsum("ij,jk,kl,l->i", a, b, c, d); },
      x[0], x[1], x[2], x[3]);
  EXPECT_EQ(to_text(chain).find("[100,100]"), std::string::npos) << to_text(chain);
  EXPECT_EQ(to_text(chain).find("[100,3]", to_text(chain).find("dot")), std::string::npos);
  // The order of the operands makes a transposition unnecessary.
  const Function swapped =
      trace([](Tensor a, Tensor b) { return einsum("ij,jk->ki", a, b); }, x[0], x[1]);
  EXPECT_EQ(to_text(swapped).find("transpose"), std::string::npos) << to_text(swapped);
}

TEST(Einsum, HasDerivatives) {
  const Tensor a = constant({{0.5, -1.0, 2.0}, {1.5, 0.3, -0.7}}),
               b = constant({{1.0, 0.2}, {-0.4, 0.9}, {0.1, 1.1}});
  check_grads(
      [](Tensor x, Tensor y) {
        return std::tuple(einsum("ij,jk->ki", x, y), einsum("ij,ji,kj->k", x, y, x),
                          einsum("ii->i", matmul(x, y)), einsum("i...,j...->ij...", x, x));
      },
      std::tuple(a, b));
  const auto of_rows = vmap([&](Tensor x) { return einsum("j,jk,k->", x, b, x[0] * b[0]); });
  expect_close(of_rows(a).eval(), {2},
               std::vector<double>{einsum("j,jk,k->", a[0], b, a[0][0] * b[0]).item<double>(),
                                   einsum("j,jk,k->", a[1], b, a[1][0] * b[0]).item<double>()},
               1e-14);
  using C = std::complex<double>;
  const Tensor z = vec<C>({{1, 2}, {0, -1}});
  expect_values<double>(real(einsum("i,i", z, z)), {}, {-4});  // not conjugated
}

TEST(Einsum, SaysWhatIsWrong) {
  const Tensor a = zeros(f32({2, 3})), b = zeros(f32({4, 5}));
  expect_error(
      [&] { einsum("ij,jk->ik", a, b); },
      {"einsum: \"ij,jk->ik\": j is 3 in operand 0, f32[2,3], and 4 in operand 1, f32[4,5]",
       "different letters"});
  expect_error([&] { einsum("ii", a); }, {"i is 2 and 3 in operand 0, f32[2,3]"});
  expect_error([&] { einsum("ij->ik", a); }, {"the result has k, which no operand has"});
  expect_error([&] { einsum("ij->ii", a); }, {"the result has i twice", "rondo::diag"});
  expect_error([&] { einsum("ijk", a); },
               {"operand 0 is f32[2,3], which has 2 axes; its term names 3"});
  expect_error([&] { einsum("i", a); }, {"its term names 1", "..."});
  expect_error([&] { einsum("ij,jk", a); }, {"there are 2 terms for 1 operands"});
  expect_error([&] { einsum("i1", a); }, {"the term of operand 0 has '1'", "\"ij,jk->ik\""});
  expect_error([&] { einsum("..i", a); }, {"the term of operand 0 has '.'"});
  expect_error([&] { einsum("......", a); }, {"has ... twice"});
  expect_error([&] { einsum("ij->i,j", a); }, {"a comma after the arrow"});
  expect_error([&] { einsum("i...->i", a); }, {"1 axes in ..., which the result lacks"});
  expect_error([&] { einsum("...i,...i", a, b); }, {"axis -1 of ... is 2 in operand 0"});
  expect_error([&] { einsum("ij,ij", a, arange(3)); },
               {"operand 0 is f32[2,3], operand 1 is s32[3]", "rondo::convert"});
  expect_error([&] { einsum("ij", a > 0); }, {"operand 0 is pred[2,3]"});
  expect_error([&] { rondo::einsum("ij", std::vector<Tensor>{}); }, {"there are no operands"});
  expect_error([&] { einsum("ij,jk", a, Tensor()); }, {"empty"});
}

TEST(Tensordot, IsNumPys) {
  const Tensor a = reshape(arange(6), {1, 2, 3}), b = reshape(arange(12), {2, 3, 2});
  expect_values<std::int32_t>(tensordot(a, b), {1, 2}, {110, 125});
  expect_values<std::int32_t>(tensordot(a, b, {{1, 2}, {0, 1}}), {1, 2}, {110, 125});
  expect_values<std::int32_t>(tensordot(a, b, {{-1}, {-2}}), {1, 2, 2, 2},
                              {10, 13, 28, 31, 28, 40, 100, 112});
  EXPECT_EQ(tensordot(a, b, 0).shape(), (Shape{1, 2, 3, 2, 3, 2}));
  EXPECT_EQ(tensordot(a, b, {{}, {}}).shape(), (Shape{1, 2, 3, 2, 3, 2}));
  expect_error([&] { tensordot(a, b, 1); },
               {"tensordot: axis 2 of s32[1,2,3] has 3 elements, axis 0 of s32[2,3,2] has 2"});
  expect_error([&] { tensordot(a, b, 4); }, {"tensordot: 4 axes", "0 to 3"});
  expect_error([&] { tensordot(a, b, {{1}, {0, 1}}); }, {"1 axes of the first and 2"});
  expect_error([&] { tensordot(a, b, {{7}, {0}}); }, {"tensordot", "7"});
}

TEST(Vdot, ConjugatesTheFirst) {
  using C = std::complex<float>;
  expect_values<float>(real(vdot(vec<C>({{1, 2}, {0, 1}}), vec<C>({{3, 0}, {0, 5}}))), {}, {8});
  expect_values<float>(imag(vdot(vec<C>({{1, 2}, {0, 1}}), vec<C>({{3, 0}, {0, 5}}))), {}, {-6});
  expect_values<std::int32_t>(vdot(reshape(arange(4), {2, 2}), arange(4)), {}, {14});
  expect_values<std::int32_t>(vdot(Tensor(3), 4), {}, {12});
  expect_error([] { vdot(arange(3), arange(4)); }, {"vdot: s32[3] and s32[4]: 3 and 4 elements"});
}

TEST(Inner, IsOverTheLastAxes) {
  const Tensor a = reshape(arange(6), {2, 3});
  expect_values<std::int32_t>(inner(a, a), {2, 2}, {5, 14, 14, 50});
  expect_values<std::int32_t>(inner(arange(3), a), {2}, {5, 14});
  expect_values<std::int32_t>(inner(a, 2), {2, 3}, {0, 2, 4, 6, 8, 10});
  expect_error([&] { inner(a, arange(2)); }, {"inner: axis 1 of s32[2,3] has 3 elements"});
}

}  // namespace
}  // namespace rondo
