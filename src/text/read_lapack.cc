// Custom calls by which JAX factorises matrices on CPUs: `lapack_spotrf_ffi` and the like
// (jaxlib/cpu/lapack_kernels.h), as ops of ours.
#include <algorithm>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "rondo/loops.h"
#include "rondo/ops.h"
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
    if (read_.operands[i].rank() < 2 && i == 0) fail("its operand must be matrices");
    return read_.operands[i];
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
  const Tensor a = upper ? adjoint(call.operand(0)) : call.operand(0);
  const Tensor factor = cholesky({a, call.at()});
  return {upper ? adjoint(factor) : factor, Call::info(has_nan(factor), Tensor(1))};
}

std::vector<Tensor> triangular(const Call& call) {
  const Tensor& a = call.operand(0);
  const char transposed = call.letter("trans_x");
  const bool conjugates = transposed == 'C' && is_complex(a.dtype());
  return {triangular_solve({conjugates ? conj(a) : a, call.at()}, {call.operand(1), call.at()},
                           {.left_side = call.letter("side") == 'L',
                            .lower = call.letter("uplo") == 'L',
                            .unit_diagonal = call.letter("diag") == 'U',
                            .transpose_a = transposed != 'N'})};
}

std::vector<Tensor> lu_factors(const Call& call) {
  const Lu made = lu({call.operand(0), call.at()});
  const Tensor zero = eq(diagonal(made.lu), 0);  // the first makes the matrix singular
  const Tensor first = convert(argmax(convert(zero, DType::kS32), -1), DType::kS32);
  return {made.lu, made.pivots + 1, Call::info(any(zero, {-1}), first + 1)};
}

/// Reflections I - tau v v^T one after the other, v below the diagonal with a 1 on it, r above. For
/// one real matrix.
std::vector<Tensor> reflections(const Call& call) {
  const Tensor& a = call.operand(0);
  if (a.rank() != 2 || is_complex(a.dtype()))
    call.fail("reflections (geqrf) are supported of one real matrix");
  const std::int64_t m = a.dim(0), n = a.dim(1), k = std::min(m, n);
  const Tensor rows = iota({DType::kS32, {m}}, 0);
  return fori_loop(
      0, k,
      [&](Tensor j, std::vector<Tensor> state) {
        const Tensor x = where(rows >= j, column(state[0], j), 0);
        const Tensor head = take(x, j), below = where(rows > j, x, 0);
        const Tensor rest = sum(below * below);
        const Tensor none = eq(rest, 0);
        const Tensor length = sqrt(head * head + rest);
        const Tensor beta = where(head > 0, -length, length);
        const Tensor tau = where(none, 0, (beta - head) / where(none, 1, beta));
        const Tensor v =
            where(rows > j, below / where(none, 1, head - beta), convert(eq(rows, j), a.dtype()));
        const Tensor later = iota({DType::kS32, {n}}, 0) >= j;
        const Tensor change = outer(tau * v, where(later, dot(v, state[0]), 0));
        const Tensor next = state[0] - change;
        const Tensor stored = where(rows > j, v, column(next, j));
        const Tensor here = eq(iota({DType::kS32, {m, n}}, 1), j);
        return std::vector<Tensor>{where(here, expand_dims(stored, 1), next),
                                   update(state[1], j, tau)};
      },
      std::vector<Tensor>{a, zeros({a.dtype(), {k}})});
}

/// The first columns of the product of the reflections.
std::vector<Tensor> product_of_reflections(const Call& call) {
  const Tensor &a = call.operand(0), &taus = call.operand(1);
  if (a.rank() != 2 || taus.rank() != 1 || is_complex(a.dtype()))
    call.fail("products of reflections (orgqr) are supported of one real matrix");
  const std::int64_t m = a.dim(0), n = a.dim(1);
  const Tensor rows = iota({DType::kS32, {m}}, 0);
  const TensorType type{DType::kS32, {m, n}};
  const Tensor identity = convert(eq(iota(type, 0), iota(type, 1)), a.dtype());
  return {fori_loop(0, taus.dim(0),
                    [&](Tensor j, Tensor q) {
                      const Tensor v =
                          where(rows > j, column(a, j), convert(eq(rows, j), a.dtype()));
                      return q - outer(take(taus, j) * v, dot(v, q));
                    },
                    identity, {.reverse = true})};
}

std::vector<Tensor> symmetric_eigen(const Call& call) {
  const Tensor& a = call.operand(0);
  // Ours reads the lower triangle.
  const Eigh made = eigh({call.letter("uplo") == 'U' ? adjoint(a) : a, call.at()});
  return {made.vectors, made.values, Call::info(has_nan(made.vectors), Tensor(1))};
}

std::vector<Tensor> singular_values(const Call& call) {
  const Tensor& a = call.operand(0);
  const char mode = call.letter("mode");
  if (mode == 'A' && a.dim(a.rank() - 1) != a.dim(a.rank() - 2))
    call.fail(
        "all singular vectors of matrices that are not square are not supported\n  Export it "
        "with full_matrices=False.");
  const Svd made = svd({a, call.at()});
  const bool has_vectors = mode != 'N';  // else their values are not used
  return {a, made.s, has_vectors ? made.u : zeros(call.result(2)),
          has_vectors ? made.vt : zeros(call.result(3)),
          Call::info(any(is_nan(made.s), {-1}), Tensor(1))};
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
