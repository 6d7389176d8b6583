module @jit_small_numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xbf16> {jax.result_info = "result[0]"}, tensor<3xf16> {jax.result_info = "result[1]"}, tensor<3xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<3xui32> {jax.result_info = "result[3]"}, tensor<3xf32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<[0x7FC00000, 0xFF800000, -0.000000e+00]> : tensor<3xf32>
    %0 = stablehlo.negate %arg0 : tensor<3xf32>
    %1 = stablehlo.complex %arg0, %0 : tensor<3xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
    %3 = stablehlo.multiply %1, %2 : tensor<3xcomplex<f32>>
    %4 = stablehlo.bitcast_convert %arg0 : (tensor<3xf32>) -> tensor<3xui32>
    %c = stablehlo.constant dense<2147483648> : tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<3xui32>
    %6 = stablehlo.xor %4, %5 : tensor<3xui32>
    %7 = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xbf16>
    %cst_1 = stablehlo.constant dense<1.500000e+00> : tensor<bf16>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<3xbf16>
    %9 = stablehlo.multiply %7, %8 : tensor<3xbf16>
    %10 = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xf16>
    %cst_2 = stablehlo.constant dense<3.000000e+00> : tensor<f16>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f16>) -> tensor<3xf16>
    %12 = stablehlo.divide %10, %11 : tensor<3xf16>
    %13 = stablehlo.add %arg0, %cst : tensor<3xf32>
    return %9, %12, %3, %6, %13 : tensor<3xbf16>, tensor<3xf16>, tensor<3xcomplex<f32>>, tensor<3xui32>, tensor<3xf32>
  }
}
