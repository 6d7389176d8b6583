// The Cholesky factor, column by column from the left: column j of x minus the contributions of
// earlier columns, divided by the root of its first element.
#include "ops/functions/helpers.h"
#include "rondo/loops.h"
#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo {

Tensor cholesky(const Operand& operand) {
  const ops::Helper helper("cholesky", operand.at());
  Tensor x = helper.floating(operand);
  helper.check_rank(x, "the operand", 2);
  const std::int64_t n = x.dim(0);
  if (x.dim(1) != n) {
    helper.fail(fmt::format("the operand is {}; it must be square\n  Give a symmetric matrix.",
                            x.type().str()));
  }
  if (n == 0) return x;
  const Tensor rows = arange(n), columns = transpose(x);
  // Row j of the carry is column j of the factor, so that a trip writes one row.
  const Tensor factor =
      fori_loop(0, n,
                [&](Tensor j, Tensor done) {
                  const Tensor rest = columns[j] - matmul(column(done, j), done);
                  return update(done, j, where(rows >= j, rest / sqrt(rest[j]), 0));
                },
                zeros(x.type()), {.name = "cholesky"});
  return transpose(factor);
}

}  // namespace rondo
