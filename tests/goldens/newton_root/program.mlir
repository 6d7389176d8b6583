module @jit_newton_root attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<i64> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:6 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %arg0, %iterArg_4 = %c) : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>
    cond {
      %1 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<f32>
      %2 = stablehlo.subtract %1, %iterArg : tensor<f32>
      %3 = stablehlo.abs %2 : tensor<f32>
      %4 = stablehlo.compare GT, %3, %iterArg_0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c_5 = stablehlo.constant dense<50> : tensor<i64>
      %5 = stablehlo.compare LT, %iterArg_4, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<false> : tensor<i1>
      %6 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<i1>
      %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %8 = stablehlo.convert %7 : tensor<i1>
      %9 = stablehlo.and %4, %8 : tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %1 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<f32>
      %2 = stablehlo.compare GT, %1, %iterArg_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
      %4 = "stablehlo.case"(%3) ({
        %6 = stablehlo.add %iterArg_3, %iterArg_2 : tensor<f32>
        stablehlo.return %6 : tensor<f32>
      }, {
        %6 = stablehlo.multiply %iterArg_3, %iterArg_3 : tensor<f32>
        %7 = stablehlo.subtract %6, %iterArg_1 : tensor<f32>
        %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %8 = stablehlo.multiply %cst, %iterArg_3 : tensor<f32>
        %9 = stablehlo.divide %7, %8 : tensor<f32>
        %10 = stablehlo.subtract %iterArg_3, %9 : tensor<f32>
        stablehlo.return %10 : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %5 = stablehlo.add %iterArg_4, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i64>
    }
    return %0#4, %0#5 : tensor<f32>, tensor<i64>
  }
}
