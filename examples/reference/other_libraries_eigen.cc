// Examples of the reference: Eigen.
#include <Eigen/Core>

#include "example.h"
#include "rondo/eigen.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("from_eigen, to_eigen", [] {
    Eigen::MatrixXd m(2, 2);
    m << 1, 2, 3, 4;
    Literal x = from_eigen(m);  // row by row, whatever the order in memory
    std::cout << x << "\n";
    std::cout << to_eigen<Eigen::VectorXd>(sum(Tensor(x), 0)).transpose() << "\n";
    Eigen::VectorXd y = jit([](Tensor a, Tensor b) { return matmul(a, b); })(
        m, Eigen::VectorXd::Ones(2).eval());  // or without calls: they are arguments
    std::cout << y.transpose() << "\n";
  });
}
