module @jit_recurrence_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>, %arg1: tensor<5x3xf64>) -> (tensor<3x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<5x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<5x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4:7 = stablehlo.while(%iterArg = %arg1, %iterArg_8 = %arg0, %iterArg_9 = %c, %iterArg_10 = %0, %iterArg_11 = %1, %iterArg_12 = %2, %iterArg_13 = %3) : tensor<5x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xf64>
    cond {
      %c_14 = stablehlo.constant dense<5> : tensor<i64>
      %10 = stablehlo.compare LT, %iterArg_9, %c_14, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %10 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_9) : (tensor<5x3xf64>, tensor<i64>) -> tensor<3xf64>
      %11:4 = func.call @closed_call(%iterArg_8, %iterArg_10, %10) : (tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
      %12 = func.call @dynamic_update_index_in_dim(%iterArg_11, %11#1, %iterArg_9) : (tensor<5x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<5x3xf64>
      %13 = func.call @dynamic_update_index_in_dim(%iterArg_12, %11#2, %iterArg_9) : (tensor<5x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<5x3xf64>
      %14 = func.call @dynamic_update_index_in_dim(%iterArg_13, %11#3, %iterArg_9) : (tensor<5x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<5x3xf64>
      %c_14 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_9, %c_14 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_8, %15, %11#0, %12, %13, %14 : tensor<5x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xf64>
    }
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %5 = stablehlo.multiply %cst_3, %cst_4 : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %c_7 = stablehlo.constant dense<0> : tensor<i64>
    %9:8 = stablehlo.while(%iterArg = %6, %iterArg_8 = %4#4, %iterArg_9 = %4#5, %iterArg_10 = %4#6, %iterArg_11 = %arg0, %iterArg_12 = %c_7, %iterArg_13 = %8, %iterArg_14 = %7) : tensor<5xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3x3xf64>, tensor<3xf64>
    cond {
      %c_15 = stablehlo.constant dense<5> : tensor<i64>
      %10 = stablehlo.compare LT, %iterArg_12, %c_15, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %c_15 = stablehlo.constant dense<5> : tensor<i64>
      %10 = stablehlo.subtract %c_15, %iterArg_12 : tensor<i64>
      %c_16 = stablehlo.constant dense<1> : tensor<i64>
      %11 = stablehlo.subtract %10, %c_16 : tensor<i64>
      %12 = func.call @dynamic_index_in_dim_0(%iterArg, %11) : (tensor<5xf64>, tensor<i64>) -> tensor<f64>
      %13 = func.call @dynamic_index_in_dim(%iterArg_8, %11) : (tensor<5x3xf64>, tensor<i64>) -> tensor<3xf64>
      %14 = func.call @dynamic_index_in_dim(%iterArg_9, %11) : (tensor<5x3xf64>, tensor<i64>) -> tensor<3xf64>
      %15 = func.call @dynamic_index_in_dim(%iterArg_10, %11) : (tensor<5x3xf64>, tensor<i64>) -> tensor<3xf64>
      %16:2 = func.call @closed_call_1(%iterArg_11, %iterArg_13, %iterArg_14, %12, %13, %14, %15) : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<f64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
      %c_17 = stablehlo.constant dense<1> : tensor<i64>
      %17 = stablehlo.add %iterArg_12, %c_17 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %17, %16#0, %16#1 : tensor<5xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3x3xf64>, tensor<3xf64>
    }
    return %9#6 : tensor<3x3xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x3xf64>, %arg1: tensor<i64>) -> tensor<3xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<5x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf64>) -> tensor<3xf64>
    return %1 : tensor<3xf64>
  }
  func.func private @closed_call(%arg0: tensor<3x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %1 = stablehlo.add %0, %arg2 : tensor<3xf64>
    %2 = stablehlo.tanh %1 : tensor<3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %4 = stablehlo.subtract %3, %2 : tensor<3xf64>
    return %2, %arg1, %2, %4 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<i64>) -> tensor<5x3xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<5x3xf64>, tensor<1x3xf64>, tensor<i64>, tensor<i64>) -> tensor<5x3xf64>
    return %1 : tensor<5x3xf64>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<5xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<5xf64>, tensor<i64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @closed_call_1(%arg0: tensor<3x3xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<3xf64>, %arg3: tensor<f64>, %arg4: tensor<3xf64>, %arg5: tensor<3xf64>, %arg6: tensor<3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>) {
    %0 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %1 = stablehlo.add %arg2, %0 : tensor<3xf64>
    %2 = stablehlo.multiply %1, %arg6 : tensor<3xf64>
    %3 = stablehlo.multiply %2, %arg5 : tensor<3xf64>
    %4 = stablehlo.add %2, %3 : tensor<3xf64>
    %5 = stablehlo.dot_general %4, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3x3xf64>) -> tensor<3xf64>
    %6 = stablehlo.dot_general %4, %arg4, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT] : (tensor<3xf64>, tensor<3xf64>) -> tensor<3x3xf64>
    %7 = stablehlo.add %arg1, %6 : tensor<3x3xf64>
    return %7, %5 : tensor<3x3xf64>, tensor<3xf64>
  }
}
