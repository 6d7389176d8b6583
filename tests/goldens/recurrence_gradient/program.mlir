module @jit_recurrence_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>, %arg1: tensor<4x3xf64>) -> (tensor<3x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %4:7 = stablehlo.while(%iterArg = %arg1, %iterArg_7 = %arg0, %iterArg_8 = %c, %iterArg_9 = %0, %iterArg_10 = %1, %iterArg_11 = %2, %iterArg_12 = %3) : tensor<4x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>
    cond {
      %c_13 = stablehlo.constant dense<4> : tensor<i64>
      %9 = stablehlo.compare LT, %iterArg_8, %c_13, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<4x3xf64>, tensor<i64>) -> tensor<3xf64>
      %10:4 = func.call @closed_call(%iterArg_7, %iterArg_9, %9) : (tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_10, %10#1, %iterArg_8) : (tensor<4x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<4x3xf64>
      %12 = func.call @dynamic_update_index_in_dim(%iterArg_11, %10#2, %iterArg_8) : (tensor<4x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<4x3xf64>
      %13 = func.call @dynamic_update_index_in_dim(%iterArg_12, %10#3, %iterArg_8) : (tensor<4x3xf64>, tensor<3xf64>, tensor<i64>) -> tensor<4x3xf64>
      %c_13 = stablehlo.constant dense<1> : tensor<i64>
      %14 = stablehlo.add %iterArg_8, %c_13 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_7, %14, %10#0, %11, %12, %13 : tensor<4x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>
    }
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %8:8 = stablehlo.while(%iterArg = %5, %iterArg_7 = %4#4, %iterArg_8 = %4#5, %iterArg_9 = %4#6, %iterArg_10 = %arg0, %iterArg_11 = %c_6, %iterArg_12 = %7, %iterArg_13 = %6) : tensor<4xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3x3xf64>, tensor<3xf64>
    cond {
      %c_14 = stablehlo.constant dense<4> : tensor<i64>
      %9 = stablehlo.compare LT, %iterArg_11, %c_14, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %c_14 = stablehlo.constant dense<4> : tensor<i64>
      %9 = stablehlo.subtract %c_14, %iterArg_11 : tensor<i64>
      %c_15 = stablehlo.constant dense<1> : tensor<i64>
      %10 = stablehlo.subtract %9, %c_15 : tensor<i64>
      %11 = func.call @dynamic_index_in_dim_0(%iterArg, %10) : (tensor<4xf64>, tensor<i64>) -> tensor<f64>
      %12 = func.call @dynamic_index_in_dim(%iterArg_7, %10) : (tensor<4x3xf64>, tensor<i64>) -> tensor<3xf64>
      %13 = func.call @dynamic_index_in_dim(%iterArg_8, %10) : (tensor<4x3xf64>, tensor<i64>) -> tensor<3xf64>
      %14 = func.call @dynamic_index_in_dim(%iterArg_9, %10) : (tensor<4x3xf64>, tensor<i64>) -> tensor<3xf64>
      %15:2 = func.call @closed_call_1(%iterArg_10, %iterArg_12, %iterArg_13, %11, %12, %13, %14) : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<f64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
      %c_16 = stablehlo.constant dense<1> : tensor<i64>
      %16 = stablehlo.add %iterArg_11, %c_16 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %16, %15#0, %15#1 : tensor<4xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>, tensor<3x3xf64>, tensor<i64>, tensor<3x3xf64>, tensor<3xf64>
    }
    return %8#6 : tensor<3x3xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x3xf64>, %arg1: tensor<i64>) -> tensor<3xf64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<4x3xf64>, tensor<i64>, tensor<i64>) -> tensor<1x3xf64>
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
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x3xf64>, %arg1: tensor<3xf64>, %arg2: tensor<i64>) -> tensor<4x3xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x3xf64>, tensor<1x3xf64>, tensor<i64>, tensor<i64>) -> tensor<4x3xf64>
    return %1 : tensor<4x3xf64>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xf64>, tensor<i64>) -> tensor<1xf64>
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
