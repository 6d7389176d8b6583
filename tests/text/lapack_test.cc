// Custom calls of LAPACK's routines, as JAX writes them for CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rondo/checks.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::string& body) {
  const CheckReport report = run_checks("func.func @main() {\n" + body + "\n  func.return\n}\n");
  return report.functions.at(0).message;
}

const std::string kMatrix = R"(
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf64>
)";

TEST(ReadLapack, CholeskyOfEitherTriangle) {
  EXPECT_EQ(message_of(kMatrix + R"(
  %l:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %l#0, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf64>
  check.expect_eq_const %l#1, dense<0> : tensor<i32>
  %u:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %u#0, dense<[[2.0, 1.0], [0.0, 2.0]]> : tensor<2x2xf64>
  %n = stablehlo.negate %a : tensor<2x2xf64>
  %m:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%n) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_eq_const %m#1, dense<1> : tensor<i32>)"),
            "");
}

// The pivots count from 1; the second row is exchanged with the first.
TEST(ReadLapack, LuAndItsPivots) {
  EXPECT_EQ(message_of(R"(
  %a = stablehlo.constant dense<[[[1.0, 2.0], [2.0, 6.0]], [[1.0, 2.0], [2.0, 4.0]]]> : tensor<2x2x2xf64>
  %l:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2x2xi32>, tensor<2xi32>)
  check.expect_almost_eq_const %l#0, dense<[[[2.0, 6.0], [0.5, -1.0]], [[2.0, 4.0], [0.5, 0.0]]]> : tensor<2x2x2xf64>
  check.expect_eq_const %l#1, dense<[[2, 2], [2, 2]]> : tensor<2x2xi32>
  check.expect_eq_const %l#2, dense<[0, 2]> : tensor<2xi32>)"),
            "");
}

TEST(ReadLapack, TriangularSystems) {
  EXPECT_EQ(message_of(R"(
  %a = stablehlo.constant dense<[[2.0, 9.0], [4.0, 8.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[2.0], [12.0]]> : tensor<2x1xf64>
  %x = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %x, dense<[[1.0], [1.0]]> : tensor<2x1xf64>
  %y = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %y, dense<[[-46.0], [12.0]]> : tensor<2x1xf64>)"),
            "");
}

// The product of the factors is the matrix: q has columns of norm 1, and r is upper triangular.
TEST(ReadLapack, ReflectionsAndTheirProduct) {
  EXPECT_EQ(message_of(R"(
  %a = stablehlo.constant dense<[[1.0, 2.0], [2.0, -1.0], [2.0, 0.0]]> : tensor<3x2xf64>
  %h:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%h#0, %h#1) : (tensor<3x2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %top = stablehlo.slice %h#0 [0:2, 0:2] : (tensor<3x2xf64>) -> tensor<2x2xf64>
  %mask = stablehlo.constant dense<[[1.0, 1.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %r = stablehlo.multiply %top, %mask : tensor<2x2xf64>
  %p = stablehlo.dot_general %q, %r, contracting_dims = [1] x [0] : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  check.expect_almost_eq %p, %a : tensor<3x2xf64>
  %g = stablehlo.dot_general %q, %q, contracting_dims = [0] x [0] : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %g, dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf64>
  %d = stablehlo.slice %h#0 [0:1, 0:1] : (tensor<3x2xf64>) -> tensor<1x1xf64>
  check.expect_almost_eq_const %d, dense<[[-3.0]]> : tensor<1x1xf64>)"),
            "");
}

TEST(ReadLapack, EigenvaluesAndSingularValues) {
  EXPECT_EQ(message_of(kMatrix + R"(
  %e:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %e#1, dense<[2.4384471871911697, 6.5615528128088303]> : tensor<2xf64>
  %s:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<i32>)
  check.expect_almost_eq_const %s#1, dense<[6.5615528128088303, 2.4384471871911697]> : tensor<2xf64>)"),
            "");
}

// Of several complex matrices; LAPACK takes the sign that does not cancel, also of a 0 (the first
// r).
TEST(ReadLapack, ReflectionsOfComplexMatrices) {
  EXPECT_EQ(message_of(R"(
  %a = stablehlo.constant dense<[[[(0.0, 0.0), (1.0, 2.0)], [(2.0, 0.0), (0.0, -1.0)], [(1.0, 2.0), (3.0, 0.0)]],
                                 [[(1.0, 1.0), (0.0, 0.0)], [(0.0, 0.0), (0.0, 2.0)], [(0.0, 0.0), (0.0, 0.0)]]]> : tensor<2x3x2xcomplex<f64>>
  %h:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) : (tensor<2x3x2xcomplex<f64>>) -> (tensor<2x3x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%h#0, %h#1) : (tensor<2x3x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x3x2xcomplex<f64>>
  %top = stablehlo.slice %h#0 [0:2, 0:2, 0:2] : (tensor<2x3x2xcomplex<f64>>) -> tensor<2x2x2xcomplex<f64>>
  %mask = stablehlo.constant dense<[[[(1.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]], [[(1.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]]> : tensor<2x2x2xcomplex<f64>>
  %r = stablehlo.multiply %top, %mask : tensor<2x2x2xcomplex<f64>>
  %p = stablehlo.dot_general %q, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>) -> tensor<2x3x2xcomplex<f64>>
  check.expect_almost_eq %p, %a : tensor<2x3x2xcomplex<f64>>
  %d = stablehlo.slice %h#0 [0:2, 0:1, 0:1] : (tensor<2x3x2xcomplex<f64>>) -> tensor<2x1x1xcomplex<f64>>
  check.expect_almost_eq_const %d, dense<[[[(-3.0, 0.0)]], [[(-1.4142135623730951, 0.0)]]]> : tensor<2x1x1xcomplex<f64>>)"),
            "");
}

// The matrix has rank 2 and three rows: the third left vector is a right angle to both others.
TEST(ReadLapack, AllSingularVectors) {
  EXPECT_EQ(message_of(R"(
  %a = stablehlo.constant dense<[[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf64>
  %s:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<i32>)
  %u = stablehlo.abs %s#2 : tensor<3x3xf64>
  check.expect_almost_eq_const %u, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf64>) -> tensor<2x3xf64>
  %w:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%t) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<i32>)
  %v = stablehlo.abs %w#3 : tensor<3x3xf64>
  check.expect_almost_eq_const %v, dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>)"),
            "");
}

// [[0, 2, 0], [1, 0, 3], [0, 4, 5]] times [[1], [2], [3]], whose first pivot is below the diagonal,
// and the same times 2.
TEST(ReadLapack, SystemsInThreeDiagonals) {
  EXPECT_EQ(message_of(R"(
  %l = stablehlo.constant dense<[[9.0, 1.0, 4.0], [9.0, 1.0, 4.0]]> : tensor<2x3xf64>
  %d = stablehlo.constant dense<[[0.0, 0.0, 5.0], [0.0, 0.0, 5.0]]> : tensor<2x3xf64>
  %u = stablehlo.constant dense<[[2.0, 3.0, 9.0], [2.0, 3.0, 9.0]]> : tensor<2x3xf64>
  %b = stablehlo.constant dense<[[[4.0], [10.0], [23.0]], [[8.0], [20.0], [46.0]]]> : tensor<2x3x1xf64>
  %x:5 = stablehlo.custom_call @lapack_dgtsv_ffi(%l, %d, %u, %b) {mhlo.backend_config = {}} : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3x1xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3x1xf64>, tensor<2xi32>)
  check.expect_almost_eq_const %x#3, dense<[[[1.0], [2.0], [3.0]], [[2.0], [4.0], [6.0]]]> : tensor<2x3x1xf64>
  check.expect_eq_const %x#4, dense<[0, 0]> : tensor<2xi32>)"),
            "");
}

TEST(ReadLapack, WhatIsMissingIsNamed) {
  EXPECT_THAT(message_of(kMatrix + R"(
  %l:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_eq %l#1, %l#1 : tensor<i32>)"),
              HasSubstr("`uplo` is missing"));
  EXPECT_THAT(message_of(kMatrix + R"(
  %l:2 = stablehlo.custom_call @lapack_dgesv_ffi(%a) : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
  check.expect_eq %l#1, %l#1 : tensor<i32>)"),
              HasSubstr("lapack_dgesv_ffi"));
}

// As HLO has it.
TEST(ReadLapack, InHlo) {
  const Function program = parse_hlo_text(R"(HloModule m
ENTRY main {
  a = f64[2,2]{1,0} parameter(0)
  l = (f64[2,2]{0,1}, s32[]) custom-call(a), custom_call_target="lapack_dpotrf_ffi", operand_layout_constraints={f64[2,2]{0,1}}, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, frontend_attributes={num_batch_dims="0"}, backend_config={uplo = 76 : ui8}
  ROOT r = f64[2,2]{0,1} get-tuple-element(l), index=0
})");
  const Literal factor = compile(program).run({Literal::from<double>({4, 2, 2, 5}, {2, 2})}).at(0);
  EXPECT_NEAR(factor.data<double>()[2], 1, 1e-12);
  EXPECT_NEAR(factor.data<double>()[3], 2, 1e-12);
}

}  // namespace
}  // namespace rondo
