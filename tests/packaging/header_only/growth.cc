#include "growth.h"

using rondo::Tensor;

Tensor grow(Tensor capital, Tensor rate, Tensor years) {
  auto [year, result] = rondo::while_loop([=](Tensor year, Tensor) { return year < years; },
                                          [=](Tensor year, Tensor value) {
                                            return std::tuple{year + 1, value * (1.0 + rate)};
                                          },
                                          std::tuple<Tensor, Tensor>{0, capital});
  return result;
}
