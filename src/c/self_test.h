// The `main` that compares what a program computes with what it computed here.
#pragma once

#include <string>
#include <vector>

#include "c/helpers.h"
#include "c/interface.h"
#include "rondo/literal.h"

namespace rondo::c {

/// The values that a test's arguments have: small numbers, which its C makes in the same way.
Literal test_argument(const TensorType& type, std::size_t number);

struct SelfTest {
  std::vector<Literal> results;  // on these arguments
};

/// `call` calls the function, with pointers to the structs in, out and work; `variables` declares
/// them. The test returns how many results have other bits than `test.results`.
std::string self_test(const SelfTest& test, const std::vector<Field>& arguments,
                      const std::vector<Leaf>& argument_leaves,
                      const std::vector<Leaf>& result_leaves, const std::string& variables,
                      const std::string& call, Helpers& helpers);

}  // namespace rondo::c
