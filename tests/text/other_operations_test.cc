// Operations of StableHLO that are read as several of ours, in programs that test themselves. What
// they expect was computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rondo/checks.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_values;
using ::testing::HasSubstr;

std::string message_of_main(const std::string& text) {
  const CheckReport report = run_checks(text);
  if (report.functions.size() != 1) return "it has " + std::to_string(report.functions.size());
  return report.functions[0].message;
}
std::string message_of_body(const std::string& body) {
  return message_of_main("func.func @main() {\n" + body + "\n  func.return\n}\n");
}

// As jax.ffi.ffi_call writes it: the layouts say how its C++ function had its arrays in memory.
TEST(OtherOperations, FunctionsThatJaxCallsByItsFfi) {
  register_call("text_scaled", {.run = [](const Call& call) {
                  EXPECT_EQ(call.config(),
                            R"({factor = 2.5, names = ["a", "b"], on, order = {by = 3}})");
                  for (std::size_t i = 0; i < 2; i++)
                    call.result<float>(0)[i] = call.operand<float>(0)[i] * 2.5F;
                }});
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.custom_call @text_scaled(%x) {backend_config = "", mhlo.backend_config = {factor = 2.5 : f32, names = ["a", "b"], on, order = {by = 3 : i64}}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[2.5, 5.0]> : tensor<2xf32>)"),
            "");
  const Function program = parse_hlo_text(R"(HloModule m
ENTRY main {
  x = f32[2]{0} parameter(0)
  ROOT y = f32[2]{0} custom-call(x), custom_call_target="text_scaled", operand_layout_constraints={f32[2]{0}}, api_version=API_VERSION_TYPED_FFI, backend_config={factor = 2.5 : f32, names = ["a", "b"], on, order = {by = 3 : i64}}
})");
  const Literal y = compile(program).run({Literal::from<float>({1, 2}, {2})}).at(0);
  EXPECT_EQ(y.data<float>()[0], 2.5F);
  EXPECT_EQ(y.data<float>()[1], 5.0F);
  EXPECT_THAT(message_of_body(R"(
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.custom_call @text_unknown(%x) {mhlo.backend_config = {}, operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq %y, %x : tensor<2xf32>)"),
              HasSubstr("no C++ function is registered as `text_unknown`"));
}

// Derivatives of digamma at 1: pi^2 / 6, -2 zeta(3); -0.577... is digamma itself. JAX gives the
// order as an array, also where it is one number.
TEST(OtherOperations, OrdersOfPolygamma) {
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<1.0> : tensor<4xf64>
  %n = stablehlo.constant dense<2.0> : tensor<f64>
  %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f64>) -> tensor<4xf64>
  %y = chlo.polygamma %b, %x : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
  check.expect_almost_eq_const %y, dense<-2.4041138063191885> : tensor<4xf64>
  %o = stablehlo.constant dense<[0.0, 1.0, 2.0, 0.5]> : tensor<4xf64>
  %z = chlo.polygamma %o, %x : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
  check.expect_almost_eq_const %z, dense<[-0.57721566490153286, 1.6449340668482264, -2.4041138063191885, 0x7FF8000000000000]> : tensor<4xf64>)"),
            "");
}

TEST(OtherOperations, SizesThatFollowFromConstants) {
  // The shape is computed: [2, 3].
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %m = stablehlo.constant dense<[[0, 0, 0], [0, 0, 0]]> : tensor<2x3xi32>
  %d0 = stablehlo.get_dimension_size %m, dim = 0 : (tensor<2x3xi32>) -> tensor<i32>
  %d1 = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
  %r0 = stablehlo.reshape %d0 : (tensor<i32>) -> tensor<1xi32>
  %r1 = stablehlo.reshape %d1 : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %r0, %r1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %shape : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  %z = stablehlo.add %y, %y : tensor<?x?xi32>
  %i = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<2x?xi32>
  %s = stablehlo.add %z, %i : (tensor<?x?xi32>, tensor<2x?xi32>) -> tensor<?x3xi32>
  check.expect_eq_const %s, dense<[[2, 5, 8], [8, 11, 14]]> : tensor<2x3xi32>)"),
            "");
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %six = stablehlo.constant dense<6> : tensor<1xi64>
  %a = stablehlo.real_dynamic_slice %x, %one, %six, %two : (tensor<6xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  check.expect_eq_const %a, dense<[2, 4, 6]> : tensor<3xi32>
  %b = stablehlo.dynamic_pad %a, %zero, %one, %two, %one : (tensor<?xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  check.expect_eq_const %b, dense<[0, 2, 0, 4, 0, 6, 0, 0]> : tensor<8xi32>)"),
            "");
}

TEST(OtherOperations, SizesThatAreNotKnownAreErrors) {
  EXPECT_THAT(message_of_body(R"(
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %shape = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %shape : (tensor<4xi32>, tensor<2xi32>) -> tensor<4x1xi32>
  check.expect_eq %y, %y : tensor<4x1xi32>)"),
              HasSubstr("its result is s32[2,2], not s32[4,1] as the text says"));
  const auto dynamic = [] {
    return parse_stablehlo_text(R"(func.func @main(%n: tensor<1xi32>) -> tensor<?xi32> {
  %y = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  func.return %y : tensor<?xi32>
})");
  };
  EXPECT_THROW(dynamic(), ParseError);
  const auto parameter = [] {
    return parse_stablehlo_text(R"(func.func @main(%n: tensor<?xi32>) -> tensor<?xi32> {
  func.return %n : tensor<?xi32>
})");
  };
  EXPECT_THROW(parameter(), ParseError);
}

TEST(OtherOperations, ComplexNumbersAreOrderedByRealPartsFirst) {
  EXPECT_EQ(message_of_body(R"(
  %a = stablehlo.constant dense<[(1.0, 5.0), (2.0, 1.0), (2.0, 3.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(2.0, 0.0), (2.0, 3.0), (2.0, -4.0)]> : tensor<3xcomplex<f32>>
  %x = stablehlo.maximum %a, %b : tensor<3xcomplex<f32>>
  %y = stablehlo.minimum %a, %b : tensor<3xcomplex<f32>>
  check.expect_eq_const %x, dense<[(2.0, 0.0), (2.0, 3.0), (2.0, 3.0)]> : tensor<3xcomplex<f32>>
  check.expect_eq_const %y, dense<[(1.0, 5.0), (2.0, 1.0), (2.0, -4.0)]> : tensor<3xcomplex<f32>>)"),
            "");
}

TEST(OtherOperations, MapsOfNoElementsAndOfScalars) {
  const std::string region =
      "({\n ^bb0(%a: tensor<f32>):\n %r = stablehlo.add %a, %a : tensor<f32>\n stablehlo.return %r "
      ": "
      "tensor<f32>\n })";
  EXPECT_EQ(message_of_body(
                R"(
  %x = stablehlo.constant dense<> : tensor<0x2xf32>
  %y = "stablehlo.map"(%x) )" +
                region + R"( {dimensions = array<i64: 0, 1>} : (tensor<0x2xf32>) -> tensor<0x2xf32>
  check.expect_eq %y, %x : tensor<0x2xf32>
  %s = stablehlo.constant dense<2.0> : tensor<f32>
  %t = "stablehlo.map"(%s) )" +
                region + R"( {dimensions = array<i64>} : (tensor<f32>) -> tensor<f32>
  check.expect_eq_const %t, dense<4.0> : tensor<f32>)"),
            "");
}

TEST(OtherOperations, MapsARegionOverElements) {
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %y = "stablehlo.map"(%x, %x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %n = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %a, %s = %n) : tensor<i32>, tensor<i32>
      cond {
        %p = stablehlo.compare GT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.subtract %i, %one : tensor<i32>
        %sum = stablehlo.add %s, %i : tensor<i32>
        stablehlo.return %next, %sum : tensor<i32>, tensor<i32>
      }
      %t = stablehlo.add %r#1, %b : tensor<i32>
      stablehlo.return %t : tensor<i32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %y, dense<[[2, 5], [9, 14]]> : tensor<2x2xi32>)"),
            "");
}

TEST(OtherOperations, TuplesAndTokens) {
  EXPECT_EQ(message_of_body(R"(
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<3> : tensor<i32>
  %k = stablehlo.after_all : !stablehlo.token
  %k2 = stablehlo.after_all %k, %k : !stablehlo.token
  %t = stablehlo.tuple %a, %b : tuple<tensor<2xi32>, tensor<i32>>
  %u = stablehlo.tuple %b, %t, %k2 : tuple<tensor<i32>, tuple<tensor<2xi32>, tensor<i32>>, !stablehlo.token>
  %v = stablehlo.get_tuple_element %u[1] : (tuple<tensor<i32>, tuple<tensor<2xi32>, tensor<i32>>, !stablehlo.token>) -> tuple<tensor<2xi32>, tensor<i32>>
  %x = "stablehlo.get_tuple_element"(%v) {index = 0 : i32} : (tuple<tensor<2xi32>, tensor<i32>>) -> tensor<2xi32>
  check.expect_eq %x, %a : tensor<2xi32>)"),
            "");
  EXPECT_THAT(message_of_body(R"(
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %t = stablehlo.tuple %a : tuple<tensor<2xi32>>
  %x = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq %x, %a : tensor<2xi32>)"),
              HasSubstr("the index of one of its elements"));
}

// (q - zero point) * scale: 10 is (10 + 30) 0.1 = 4 and 0 is 3, the sum 7 is 7 / 0.5 - 20 = -6.
TEST(OtherOperations, QuantizedTypesStandForNumbers) {
  EXPECT_EQ(message_of_body(R"(
  %a = stablehlo.constant dense<[10, -128, 127]> : tensor<3xi8>
  %q = stablehlo.bitcast_convert %a : (tensor<3xi8>) -> tensor<3x!quant.uniform<i8:f32, 0.1:-30>>
  %x = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<3xf32>
  check.expect_almost_eq_const %x, dense<[4.0, -9.8, 15.7]> : tensor<3xf32>
  %s = stablehlo.add %q, %q : (tensor<3x!quant.uniform<i8:f32, 0.1:-30>>, tensor<3x!quant.uniform<i8:f32, 0.1:-30>>) -> tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:-20>>
  %t = stablehlo.bitcast_convert %s : (tensor<3x!quant.uniform<i8<-100:100>:f32, 0.5:-20>>) -> tensor<3xi8>
  check.expect_eq_const %t, dense<[-4, -59, 43]> : tensor<3xi8>)"),
            "");
  // One scale for each column; 1000 does not fit and becomes the greatest integer.
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<[[1.0, 1.0], [1000.0, -1.0]]> : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<u8:f32:1, {0.5, 0.25:3}>>
  %i = stablehlo.bitcast_convert %q : (tensor<2x2x!quant.uniform<u8:f32:1, {0.5, 0.25:3}>>) -> tensor<2x2xui8>
  check.expect_eq_const %i, dense<[[2, 7], [255, 0]]> : tensor<2x2xui8>)"),
            "");
}

TEST(OtherOperations, OnMoreTypesThanOurOps) {
  // The bits of 1.0 are 0x3FF00000 and 0, and 0x3FF00000 is 1.875f.
  EXPECT_EQ(message_of_body(R"(
  %p = stablehlo.constant dense<[[true, false, true, false, false, false, false, false], [false, false, false, false, false, false, false, true]]> : tensor<2x8xi1>
  %b = stablehlo.bitcast_convert %p : (tensor<2x8xi1>) -> tensor<2xi8>
  check.expect_eq_const %b, dense<[5, -128]> : tensor<2xi8>
  %q = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<2x8xi1>
  check.expect_eq %q, %p : tensor<2x8xi1>
  %z = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
  %h = stablehlo.bitcast_convert %z : (tensor<complex<f64>>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %h, dense<[(0.0, 1.875), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
  %w = stablehlo.bitcast_convert %h : (tensor<2xcomplex<f32>>) -> tensor<complex<f64>>
  check.expect_eq %w, %z : tensor<complex<f64>>)"),
            "");
  EXPECT_EQ(message_of_body(R"(
  %x = stablehlo.constant dense<100> : tensor<1x2x1xi8>
  %k = stablehlo.constant dense<2> : tensor<2x1x1xi8>
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xi8>, tensor<2x1x1xi8>) -> tensor<1x1x1xi32>
  check.expect_eq_const %y, dense<400> : tensor<1x1x1xi32>)"),
            "");
  // The conjugate of 2i times x is 4: x is 2i.
  EXPECT_EQ(message_of_body(R"(
  %a = stablehlo.constant dense<(0.0, 2.0)> : tensor<1x1xcomplex<f64>>
  %b = stablehlo.constant dense<(4.0, 0.0)> : tensor<1x1xcomplex<f64>>
  %x = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<1x1xcomplex<f64>>, tensor<1x1xcomplex<f64>>) -> tensor<1x1xcomplex<f64>>
  check.expect_almost_eq_const %x, dense<(0.0, 2.0)> : tensor<1x1xcomplex<f64>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f64>>
  %t = stablehlo.atan2 %one, %one : tensor<complex<f64>>
  check.expect_almost_eq_const %t, dense<(0.78539816339744828, 0.0)> : tensor<complex<f64>>
  %r = stablehlo.constant dense<3.0> : tensor<f32>
  %i = stablehlo.imag %r : tensor<f32>
  check.expect_eq_const %i, dense<0.0> : tensor<f32>)"),
            "");
}

TEST(OtherOperations, RandomNumbersOfTheDistribution) {
  const Function f = parse_stablehlo_text(
      R"(func.func @main() -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xi32>) {
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %i = stablehlo.constant dense<-5> : tensor<i32>
  %j = stablehlo.constant dense<5> : tensor<i32>
  %n = stablehlo.constant dense<1000> : tensor<1xi64>
  %u = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
  %g = "stablehlo.rng"(%a, %b, %n) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
  %k = stablehlo.rng %i, %j, %n, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<1000xi32>
  func.return %u, %g, %k : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xi32>
})");
  const std::vector<Literal> drawn = compile(f).run(std::vector<Literal>{});
  double sum = 0, normal = 0, squares = 0;
  for (const float u : drawn[0].data<float>()) {
    EXPECT_TRUE(u >= 2 && u < 3) << u;
    sum += u;
  }
  EXPECT_NEAR(sum / 1000, 2.5, 0.05);  // deviation of the mean: 0.009
  for (const float g : drawn[1].data<float>()) {
    normal += g;
    squares += (g - 2) * (g - 2);
  }
  EXPECT_NEAR(normal / 1000, 2, 0.5);  // deviation 0.095
  EXPECT_NEAR(squares / 1000, 9, 2);   // deviation 0.4
  for (const int k : drawn[2].data<int>()) EXPECT_TRUE(k >= -5 && k < 5) << k;
}

/// Two replicas with two partitions each run @f on 1, 2, 3 and 4.
std::string on_four(const std::string& f, const std::string& expected) {
  return "module @m {\n  func.func @f(%x: tensor<1xi32>) -> tensor<1xi32> {\n" + f + R"(
    func.return %y : tensor<1xi32>
  }
  func.func @main() {
    %1 = stablehlo.constant dense<1> : tensor<1xi32>
    %2 = stablehlo.constant dense<2> : tensor<1xi32>
    %3 = stablehlo.constant dense<3> : tensor<1xi32>
    %4 = stablehlo.constant dense<4> : tensor<1xi32>
    %r:4 = "interpreter.run_parallel"(%1, %2, %3, %4) {programs = [[@f, @f], [@f, @f]]} : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
    %all = stablehlo.concatenate %r#0, %r#1, %r#2, %r#3, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    check.expect_eq_const %all, dense<)" +
         expected + R"(> : tensor<4xi32>
    func.return
  }
})";
}
std::string all_reduce(const std::string& attributes) {
  return R"(    %y = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {)" +
         attributes + "} : (tensor<1xi32>) -> tensor<1xi32>";
}

TEST(OtherOperations, ReductionsOverReplicasPartitionsAndProcesses) {
  const std::string channel = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>";
  const std::string both = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
  // The partitions of each number sum over both replicas: 1 + 3, 2 + 4.
  EXPECT_EQ(message_of_main(on_four(all_reduce(both), "[4, 6, 4, 6]")), "");
  EXPECT_EQ(message_of_main(on_four(all_reduce(both + channel), "[10, 10, 10, 10]")), "");
  EXPECT_EQ(message_of_main(
                on_four(all_reduce("replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>" +
                                   channel + ", use_global_device_ids"),
                        "[5, 5, 5, 5]")),
            "");
  EXPECT_EQ(message_of_main(on_four(
                all_reduce("replica_groups = dense<[[0, 3, 1], [2, -1, -1]]> : tensor<2x3xi64>" +
                           channel + ", use_global_device_ids"),
                "[7, 7, 3, 7]")),
            "");
  EXPECT_THAT(
      message_of_main(on_four(all_reduce("replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>"),
                              "[0, 0, 0, 0]")),
      HasSubstr("there is no replica 2"));
}

TEST(OtherOperations, ExchangesOfValues) {
  // 0 -> 1 and 1 -> 0 among the partitions of each replica; without a source a process has zeros.
  EXPECT_EQ(message_of_main(on_four(R"(
    %y = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<1xi32>) -> tensor<1xi32>)",
                                    "[0, 1, 0, 3]")),
            "");
  EXPECT_EQ(message_of_main(on_four(R"(
    %y = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<1xi32>) -> tensor<1xi32>)",
                                    "[3, 4, 3, 4]")),
            "");
  // The numbers of the other processes of the replica, in order: 10 x + y.
  EXPECT_EQ(message_of_main(on_four(R"(
    %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<1xi32>) -> tensor<2xi32>
    %a = stablehlo.slice %g [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %b = stablehlo.slice %g [1:2] : (tensor<2xi32>) -> tensor<1xi32>
    %ten = stablehlo.constant dense<10> : tensor<1xi32>
    %c = stablehlo.multiply %a, %ten : tensor<1xi32>
    %y = stablehlo.add %c, %b : tensor<1xi32>)",
                                    "[12, 12, 34, 34]")),
            "");
  // Process p has p, p + 10; of all to all over the replicas, the first gets both first halves.
  EXPECT_EQ(message_of_main(on_four(R"(
    %ten = stablehlo.constant dense<10> : tensor<1xi32>
    %z = stablehlo.add %x, %ten : tensor<1xi32>
    %w = stablehlo.concatenate %x, %z, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %e = "stablehlo.all_to_all"(%w) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    %y = stablehlo.slice %e [1:2] : (tensor<2xi32>) -> tensor<1xi32>)",
                                    "[3, 4, 13, 14]")),
            "");
  EXPECT_EQ(message_of_main(on_four(R"(
    %ten = stablehlo.constant dense<10> : tensor<1xi32>
    %w = stablehlo.concatenate %x, %ten, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %y = "stablehlo.reduce_scatter"(%w) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.maximum %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<1xi32>)",
                                    "[3, 4, 10, 10]")),
            "");
}

TEST(OtherOperations, CollectivesInLoopsAndNumbersOfProcesses) {
  EXPECT_EQ(message_of_main(on_four(R"(
    %p = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.replica_id : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %d = stablehlo.multiply %two, %q : tensor<ui32>
    %e = stablehlo.add %d, %p : tensor<ui32>
    %f = stablehlo.convert %e : (tensor<ui32>) -> tensor<i32>
    %g = stablehlo.reshape %f : (tensor<i32>) -> tensor<1xi32>
    %n = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %n, %s = %x) : tensor<i32>, tensor<1xi32>
    cond {
      %l = stablehlo.constant dense<2> : tensor<i32>
      %c = stablehlo.compare LT, %i, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = "stablehlo.all_reduce"(%s) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %u = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %u : tensor<i32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %j, %t : tensor<i32>, tensor<1xi32>
    }
    %y = stablehlo.subtract %r#1, %g : tensor<1xi32>)",
                                    "[8, 11, 6, 9]")),
            "");
}

TEST(OtherOperations, ProcessesWithProgramsOfTheirOwnSendAndReceive) {
  EXPECT_EQ(message_of_main(R"(module @m {
  func.func @first(%x: tensor<i32>, %t: !stablehlo.token) -> !stablehlo.token {
    %a = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
    func.return %a : !stablehlo.token
  }
  func.func @second(%t: !stablehlo.token) -> (tensor<i32>, tensor<ui32>) {
    %a, %b = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
    %r = stablehlo.replica_id : tensor<ui32>
    func.return %a, %r : tensor<i32>, tensor<ui32>
  }
  func.func @main() {
    %x = stablehlo.constant dense<5> : tensor<i32>
    %t = stablehlo.after_all : !stablehlo.token
    %r:3 = "interpreter.run_parallel"(%x, %t, %t) {programs = [[@first], [@second]]} : (tensor<i32>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<i32>, tensor<ui32>)
    check.expect_eq_const %r#1, dense<5> : tensor<i32>
    check.expect_eq_const %r#2, dense<1> : tensor<ui32>
    func.return
  }
})"),
            "");
}

TEST(OtherOperations, ALaneOfAVmapIsAProcess) {
  const std::string text = R"(module @m attributes {mhlo.num_replicas = 3 : i32} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.multiply %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<> : tensor<0x0xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
})";
  EXPECT_THROW(parse_stablehlo_text(text), ParseError);
  const auto f = vmap(
      [&](Tensor x) { return function_of(parse_stablehlo_text(text))(std::vector<Tensor>{x})[0]; },
      {.axis_name = "processes"});
  const Tensor x = matrix({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  expect_values<float>(f(x), {3, 2}, {15, 48, 15, 48, 15, 48});
}

TEST(OtherOperations, HloTextHasCollectives) {
  const std::string text = R"(HloModule m, replica_count=2, num_partitions=2

ENTRY main {
  x = s32[] parameter(0)
  r = u32[] replica-id()
  s = s32[] convert(r)
  hundred = s32[] constant(100)
  t = s32[] multiply(s, hundred)
  p = s32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT y = s32[] add(p, t)
})";
  EXPECT_THROW(parse_hlo_text(text), ParseError);
  const auto f = vmap([&](Tensor x) { return function_of(parse_hlo_text(text))(x)[0]; },
                      {.axis_name = "processes"});
  expect_values<int>(f(constant({1, 2, 3, 4})), {4}, {2, 1, 104, 103});
}

TEST(OtherOperations, HloTextHasThemToo) {
  const Function f = parse_hlo_text(R"(HloModule m

add_scalars {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT sum = s32[] add(a, b)
}

ENTRY main {
  x = s32[2,3] parameter(0)
  mapped = s32[2,3] map(x, x), dimensions={0,1}, to_apply=add_scalars
  reduced = s32[2,3] all-reduce(mapped), replica_groups={{0}}, to_apply=add_scalars
  columns = s32[] get-dimension-size(reduced), dimensions={1}
  wide = s32[2,3] broadcast(columns), dimensions={}
  ROOT all = s32[2,3] add(reduced, wide)
})");
  const Literal x = Literal::from<int>({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_values<int>(Tensor(compile(f).run(std::vector<Literal>{x})[0]), {2, 3},
                     {5, 7, 9, 11, 13, 15});
}

}  // namespace
}  // namespace rondo
