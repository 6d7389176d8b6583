// Examples of the reference: products, linear algebra, Fourier transforms.
#include <cmath>
#include <complex>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("dot, matmul", [] {
    Tensor a = constant({{1, 2}, {3, 4}}), x = constant({5, 6});
    std::cout << dot(x, x) << " " << matmul(a, x) << " " << matmul(x, a) << "\n";
    std::cout << matmul(a, a) << " " << a * a << "\n";  // * is element by element
    std::cout << matmul(zeros(f32({7, 2, 3})), zeros(f32({3, 4}))).type() << "\n";
  });
  example("dot_general", [] {
    // Seven products of a matrix and a vector.
    Tensor a = ones(f32({7, 2, 3})), x = ones(f32({7, 3}));
    DotDims dims{
        .lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {1}};
    std::cout << dot_general(a, x, dims).type() << "\n";
  });
  example("einsum", [] {
    Tensor a = constant({{1, 2}, {3, 4}}), b = constant({{5, 6}, {7, 8}});
    std::cout << einsum("ij,jk->ik", a, b) << "\n";                      // the product
    std::cout << einsum("ii", a) << " " << einsum("ij->ji", a) << "\n";  // trace, transpose
    std::cout << einsum("ij,ij->i", a, b) << "\n";                       // row by row
  });
  example("tensordot, vdot, inner", [] {
    Tensor a = constant({{1, 2}, {3, 4}}), b = constant({{5, 6}, {7, 8}});
    std::cout << tensordot(a, b, 1) << " " << tensordot(a, b) << "\n";  // over 1 axis, over 2
    std::cout << rondo::tensordot(a, b, {{0}, {0}}) << "\n";            // transpose(a) b
    std::cout << vdot(a, b) << " " << inner(a, b) << "\n";
    Tensor z = constant({std::complex<double>(1, 2)});
    std::cout << vdot(z, z) << "\n";  // conjugates the first
  });
  example("cholesky, cho_solve", [] {
    Tensor a = constant({{4.0, 2.0}, {2.0, 5.0}});
    Tensor l = cholesky(a);
    std::cout << l << "\n";
    std::cout << cho_solve(l, constant({8.0, 12.0})) << "\n";
  });
  example("triangular_solve", [] {
    Tensor l = constant({{2.0, 0.0}, {1.0, 4.0}});
    std::cout << triangular_solve(l, constant({{2.0}, {9.0}})) << "\n";
    std::cout << rondo::triangular_solve(l, constant({{4.0}, {8.0}}), {.transpose_a = true})
              << "\n";
  });
  example("lu, lu_solve", [] {
    Tensor a = constant({{2.0, 1.0}, {4.0, 6.0}});
    Lu factors = lu(a);  // the second row is the first pivot
    std::cout << factors.lu << " " << factors.permutation << "\n";
    std::cout << lu_solve(factors, constant({4.0, 16.0})) << "\n";
  });
  example("qr", [] {
    Tensor a = constant({{3.0, 1.0}, {4.0, 2.0}});
    auto [q, r] = qr(a);
    std::cout << convert(q, DType::kF32) << "\n" << convert(r, DType::kF32) << "\n";
    std::cout << convert(matmul(q, r), DType::kF32) << "\n";
  });
  example("eigh", [] {
    auto [values, vectors] = eigh(constant({{2.0, 1.0}, {1.0, 2.0}}));
    std::cout << values << " " << abs(vectors) << "\n";  // columns, of any sign
  });
  example("svd", [] {
    Tensor a = constant({{3.0, 0.0}, {0.0, -2.0}, {0.0, 0.0}});
    auto [u, s, vt] = svd(a);
    std::cout << s << "\n";
    std::cout << convert(matmul(u * s, vt), DType::kF32) << "\n";  // a again
  });
  example("solve, inv", [] {
    Tensor a = constant({{2.0, 0.0}, {1.0, 4.0}}), b = constant({2.0, 9.0});
    std::cout << solve(a, b) << " " << inv(a) << "\n";
    auto first = [&](Tensor b) { return solve(a, b)[0]; };
    std::cout << grad(first)(b) << "\n";  // the first row of the inverse
  });
  example("lstsq, pinv", [] {
    // The line through (0, 1), (1, 3), (2, 5) and (3, 7).
    Tensor a = constant({{0.0, 1.0}, {1.0, 1.0}, {2.0, 1.0}, {3.0, 1.0}});
    Tensor y = constant({1.0, 3.0, 5.0, 7.0});
    std::cout << convert(lstsq(a, y), DType::kF32) << "\n";
    std::cout << convert(matmul(pinv(a), y), DType::kF32) << "\n";
  });
  example("det, slogdet", [] {
    Tensor a = constant({{1.0, 2.0}, {3.0, 4.0}});
    std::cout << convert(det(a), DType::kF32) << "\n";
    auto [sign, logdet] = slogdet(1e200 * a);  // the determinant would overflow
    std::cout << sign << " " << logdet << "\n";
  });
  example("expm", [] {
    Tensor turn = constant({{0.0, -1.0}, {1.0, 0.0}});
    std::cout << expm(turn * (M_PI / 6)) << "\n";  // the rotation by 30 degrees
  });
  example("matrix_power, matrix_trace", [] {
    Tensor fibonacci = constant({{1.0, 1.0}, {1.0, 0.0}});
    std::cout << matrix_power(fibonacci, 10) << " " << matrix_power(fibonacci, -1) << "\n";
    std::cout << matrix_trace(fibonacci) << "\n";
  });
  example("kron, cross", [] {
    std::cout << kron(constant({1, 10}), constant({1, 2, 3})) << "\n";
    std::cout << cross(constant({1, 0, 0}), constant({0, 1, 0})) << "\n";
  });

  example("fft, ifft", [] {
    Tensor wave = constant({1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0});  // two periods
    std::cout << abs(fft(wave)) << "\n";
    std::cout << real(ifft(fft(wave))) << "\n";
  });
  example("rfft, irfft", [] {
    Tensor x = constant({1.0, 2.0, 4.0, 3.0});
    std::cout << rfft(x) << "\n";
    std::cout << irfft(rfft(x)) << "\n";
    std::cout << irfft(rfft(slice(x, range(0, 3))), 3) << "\n";  // of odd length: say so
  });
  example("fft2, ifft2, fftn, ifftn", [] {
    Tensor x = constant({{1.0, 2.0}, {3.0, 4.0}});
    std::cout << fft2(x) << "\n";
    std::cout << real(ifft2(fft2(x))) << " " << all(fftn(x) == fft2(x)) << "\n";
    std::cout << real(rondo::ifftn(rondo::fftn(x, {0}), {0})) << "\n";  // along axis 0 alone
  });
}
