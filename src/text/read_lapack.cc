// Custom calls by which JAX factorises matrices on CPUs: `lapack_spotrf_ffi` and the like
// (jaxlib/cpu/lapack_kernels.h), as ops of ours.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "rondo/loops.h"
#include "rondo/ops.h"
#include "rondo/vmap.h"
#include "text/mlir/cursor.h"
#include "text/read_operation.h"

namespace rondo::text {

namespace {

/// Arguments of a call: letters such as 'L', as numbers.
class Call {
 public:
  explicit Call(const ReadOperation& read) : read_(read) {}

  [[noreturn]] void fail(const std::string& message) const {
    mlir::fail(read_.text, read_.operation.at, message);
  }
  const Tensor& operand(std::size_t i) const {
    if (i >= read_.operands.size()) fail("an operand is missing");
    return read_.operands[i];
  }
  const Tensor& matrix(std::size_t i = 0) const {
    if (operand(i).rank() < 2) fail("its operand must be matrices");
    return operand(i);
  }
  char letter(std::string_view name) const {
    for (const std::string_view config : {"mhlo.backend_config", "backend_config"}) {
      const mlir::Attribute* const values = read_.operation.find(config);
      if (!values) continue;
      for (const mlir::Entry& entry : values->entries) {
        if (entry.name == name && entry.value.kind == mlir::Attribute::Kind::kInteger)
          return static_cast<char>(entry.value.integer);
      }
    }
    fail(fmt::format("`{}` is missing in its backend_config", name));
  }
  const TensorType& result(std::size_t i) const {
    if (i >= read_.operation.types.size()) fail("the type of a result is missing");
    return read_.operation.types[i];
  }
  SourceLocation at() const { return read_.at; }
  /// s32 for each matrix: a number where the predicate holds, else 0.
  static Tensor info(const Tensor& failed, const Tensor& number) {
    return where(failed, number, 0);
  }

 private:
  const ReadOperation& read_;
};

Tensor swapped(const Tensor& x) {
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < x.rank(); axis++) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}
Tensor adjoint(const Tensor& x) { return is_complex(x.dtype()) ? conj(swapped(x)) : swapped(x); }
/// Whether an element of a matrix is a NaN, for each matrix.
Tensor has_nan(const Tensor& x) {
  const Tensor size = is_complex(x.dtype()) ? abs(x) : x;
  return any(is_nan(size), {-2, -1});
}
Tensor diagonal(const Tensor& x) {
  const std::int64_t k = std::min(x.dim(-1), x.dim(-2));
  const TensorType square{DType::kS32, {k, k}};
  const Tensor same = eq(iota(square, 0), iota(square, 1));
  std::vector<std::int64_t> from(static_cast<std::size_t>(x.rank()), 0), to = x.shape().vector();
  to[to.size() - 1] = to[to.size() - 2] = k;
  return sum(where(same, slice(x, from, to), 0), {-1});
}

std::vector<Tensor> cholesky_factor(const Call& call) {
  const bool upper = call.letter("uplo") == 'U';
  const Tensor a = upper ? adjoint(call.matrix()) : call.matrix();
  const Tensor factor = cholesky({a, call.at()});
  return {upper ? adjoint(factor) : factor, Call::info(has_nan(factor), Tensor(1))};
}

std::vector<Tensor> triangular(const Call& call) {
  const Tensor& a = call.matrix();
  const char transposed = call.letter("trans_x");
  const bool conjugates = transposed == 'C' && is_complex(a.dtype());
  return {triangular_solve({conjugates ? conj(a) : a, call.at()}, {call.operand(1), call.at()},
                           {.left_side = call.letter("side") == 'L',
                            .lower = call.letter("uplo") == 'L',
                            .unit_diagonal = call.letter("diag") == 'U',
                            .transpose_a = transposed != 'N'})};
}

std::vector<Tensor> lu_factors(const Call& call) {
  const Lu made = lu({call.matrix(), call.at()});
  const Tensor zero = eq(diagonal(made.lu), 0);  // the first makes the matrix singular
  const Tensor first = convert(argmax(convert(zero, DType::kS32), -1), DType::kS32);
  return {made.lu, made.pivots + 1, Call::info(any(zero, {-1}), first + 1)};
}

/// The function of one matrix on each of several.
using OfMatrices = std::function<std::vector<Tensor>(std::vector<Tensor>)>;
std::vector<Tensor> for_each_matrix(const OfMatrices& function, std::vector<Tensor> operands) {
  if (operands[0].rank() == 2) return function(std::move(operands));
  const OfMatrices of_one = [&](std::vector<Tensor> parts) {
    return for_each_matrix(function, std::move(parts));
  };
  return vmap(of_one)(std::move(operands));
}

Tensor conjugate(const Tensor& x) { return is_complex(x.dtype()) ? conj(x) : x; }
Tensor squared_magnitude(const Tensor& x) {
  return is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : x * x;
}
/// The vector of a reflection: below the diagonal what the factors have there, on it 1.
Tensor reflected(const Tensor& factors, const Tensor& j) {
  const Tensor rows = iota({DType::kS32, {factors.dim(0)}}, 0);
  return where(rows > j, column(factors, j), convert(eq(rows, j), factors.dtype()));
}

/// Reflections I - tau v v^H one after the other, v below the diagonal with a 1 on it, r above,
/// with the signs of LAPACK (zlarfg).
std::vector<Tensor> reflections_of(const Tensor& a) {
  const std::int64_t m = a.dim(0), n = a.dim(1), k = std::min(m, n);
  const Tensor rows = iota({DType::kS32, {m}}, 0), columns = iota({DType::kS32, {m, n}}, 1);
  return fori_loop(
      0, k,
      [&](Tensor j, std::vector<Tensor> state) {
        const Tensor x = column(state[0], j), head = take(x, j);
        const Tensor below = where(rows > j, x, 0), rest = sum(squared_magnitude(below));
        const bool wide = is_complex(a.dtype());
        const Tensor along = wide ? real(head) : head;
        const Tensor none = wide ? eq(rest, 0) & eq(imag(head), 0) : eq(rest, 0);
        const Tensor length = sqrt(squared_magnitude(head) + rest);
        const Tensor beta = convert(where(along >= 0, -length, length), a.dtype());
        const Tensor tau = where(none, 0, (beta - head) / where(none, 1, beta));
        const Tensor v =
            where(rows > j, below / where(none, 1, head - beta), convert(eq(rows, j), a.dtype()));
        const Tensor later = iota({DType::kS32, {n}}, 0) >= j;
        const Tensor change =
            outer(conjugate(tau) * v, where(later, dot(conjugate(v), state[0]), 0));
        const Tensor next = state[0] - change;
        const Tensor stored = where(rows > j, v, column(next, j));
        return std::vector<Tensor>{where(eq(columns, j), expand_dims(stored, 1), next),
                                   update(state[1], j, tau)};
      },
      std::vector<Tensor>{a, zeros({a.dtype(), {k}})});
}

/// The first columns of the product of the reflections.
Tensor product_of(const Tensor& factors, const Tensor& taus, std::int64_t columns) {
  const TensorType type{DType::kS32, {factors.dim(0), columns}};
  const Tensor identity = convert(eq(iota(type, 0), iota(type, 1)), factors.dtype());
  return fori_loop(0, taus.dim(0),
                   [&](Tensor j, Tensor q) {
                     const Tensor v = reflected(factors, j);
                     return q - outer(take(taus, j) * v, dot(conjugate(v), q));
                   },
                   identity, {.reverse = true});
}

std::vector<Tensor> reflections(const Call& call) {
  return for_each_matrix([](const std::vector<Tensor>& x) { return reflections_of(x[0]); },
                         {call.matrix()});
}
std::vector<Tensor> product_of_reflections(const Call& call) {
  const Tensor &a = call.matrix(), &taus = call.operand(1);
  if (taus.rank() + 1 != a.rank()) call.fail("it takes a vector of factors for each matrix");
  return for_each_matrix(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{product_of(x[0], x[1], x[0].dim(1))};
      },
      {a, taus});
}

/// Columns of norm 1, and behind them those that make the matrix square and unitary.
std::vector<Tensor> completed(const std::vector<Tensor>& x) {
  const std::vector<Tensor> made = reflections_of(x[0]);
  const std::int64_t m = x[0].dim(0), k = x[0].dim(1);
  const Tensor all = product_of(made[0], made[1], m);
  return {concatenate({x[0], slice(all, {0, k}, {m, m})}, 1)};
}

std::vector<Tensor> symmetric_eigen(const Call& call) {
  const Tensor& a = call.matrix();
  // Ours reads the lower triangle.
  const Eigh made = eigh({call.letter("uplo") == 'U' ? adjoint(a) : a, call.at()});
  return {made.vectors, made.values, Call::info(has_nan(made.vectors), Tensor(1))};
}

std::vector<Tensor> singular_values(const Call& call) {
  const Tensor& a = call.matrix();
  const char mode = call.letter("mode");
  Svd made = svd({a, call.at()});
  if (mode == 'A' && a.dim(-2) > a.dim(-1)) made.u = for_each_matrix(completed, {made.u})[0];
  if (mode == 'A' && a.dim(-1) > a.dim(-2))
    made.vt = adjoint(for_each_matrix(completed, {adjoint(made.vt)})[0]);
  const bool has_vectors = mode != 'N';  // else their values are not used
  return {a, made.s, has_vectors ? made.u : zeros(call.result(2)),
          has_vectors ? made.vt : zeros(call.result(3)),
          Call::info(any(is_nan(made.s), {-1}), Tensor(1))};
}

using ThreeDiagonals = std::array<Tensor, 3>;  // a row's diagonal, what is right of it, right side
using EliminatedRow = std::array<Tensor, 4>;  // the same, and what is right of both before the last

/// One matrix of right sides, and the diagonals below, on and above the main one.
std::vector<Tensor> solution_of_diagonals(const std::vector<Tensor>& x) {
  const auto first = [](const Tensor& of) { return take(of, 0); };
  const auto later = [](const Tensor& of) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(of.rank()));
    starts[0] = 1;
    return slice(of, starts, of.shape().vector());
  };
  const auto eliminate = [](ThreeDiagonals upper, EliminatedRow row) {
    const auto& [below, diagonal, above, right] = row;
    const auto& [pivot, next, known] = upper;
    const Tensor keeps = abs(pivot) >= abs(below);
    const Tensor factor = where(keeps, below, pivot) / where(keeps, pivot, below);
    const EliminatedRow done{where(keeps, pivot, below), where(keeps, next, diagonal),
                             where(keeps, known, right), where(keeps, 0, above)};
    const ThreeDiagonals left{where(keeps, diagonal - factor * next, next - factor * diagonal),
                              where(keeps, above, -factor * above),
                              where(keeps, right - factor * known, known - factor * right)};
    return std::pair{left, done};
  };
  const auto [last, rows] = scan(eliminate, ThreeDiagonals{first(x[2]), first(x[3]), first(x[0])},
                                 EliminatedRow{later(x[1]), later(x[2]), later(x[3]), later(x[0])});
  const Tensor bottom = last[2] / last[0];
  const auto substitute = [](std::array<Tensor, 2> known, EliminatedRow row) {
    const Tensor value = (row[2] - row[1] * known[0] - row[3] * known[1]) / row[0];
    return std::pair{std::array<Tensor, 2>{value, known[0]}, value};
  };
  const auto [unused, solved] = scan(
      substitute, std::array<Tensor, 2>{bottom, zeros(bottom.type())}, rows, {.reverse = true});
  return {concatenate({solved, expand_dims(bottom, 0)}, 0)};
}

/// Rows of a system in three diagonals, of which the first and last element are not used, by
/// elimination with pivots (dgtsv). The other results are what LAPACK leaves in its operands,
/// which JAX does not read.
std::vector<Tensor> tridiagonal_solve(const Call& call) {
  const std::vector<Tensor> operands{call.matrix(3), call.operand(0), call.operand(1),
                                     call.operand(2)};
  const Tensor x = for_each_matrix(solution_of_diagonals, operands)[0];
  return {operands[1], operands[2], operands[3], x, Call::info(has_nan(x), Tensor(1))};
}

struct Routine {
  std::string_view name;  // without the letter of its dtype
  std::vector<Tensor> (*read)(const Call&);
};
constexpr Routine kRoutines[] = {
    {"potrf", cholesky_factor},
    {"trsm", triangular},
    {"getrf", lu_factors},
    {"geqrf", reflections},
    {"orgqr", product_of_reflections},
    {"ungqr", product_of_reflections},
    {"gtsv", tridiagonal_solve},
    {"syevd", symmetric_eigen},
    {"heevd", symmetric_eigen},
    {"gesdd", singular_values},
};

/// `potrf` of `lapack_spotrf_ffi`; null for names of other forms or routines.
const Routine* routine_of(std::string_view target) {
  constexpr std::string_view kBegin = "lapack_", kEnd = "_ffi";
  if (!target.starts_with(kBegin) || !target.ends_with(kEnd)) return nullptr;
  target.remove_prefix(kBegin.size());
  target.remove_suffix(kEnd.size());
  if (target.empty() || std::string_view("sdcz").find(target[0]) == std::string_view::npos)
    return nullptr;
  const auto* const found =
      std::find_if(std::begin(kRoutines), std::end(kRoutines),
                   [&](const Routine& routine) { return routine.name == target.substr(1); });
  return found == std::end(kRoutines) ? nullptr : found;
}

std::vector<Tensor> read_routine(const ReadOperation& read) {
  return routine_of(called_target(read.operation))->read(Call(read));
}

}  // namespace

ReadFunction read_lapack(std::string_view target) {
  return routine_of(target) ? read_routine : nullptr;
}

}  // namespace rondo::text
