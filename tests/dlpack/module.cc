// from_dlpack and to_dlpack as functions of C, for a test in Python.
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "rondo/dlpack.h"
#include "rondo/error.h"
#include "rondo/literal.h"

namespace {

std::map<int, rondo::Literal>& literals() {
  static std::map<int, rondo::Literal>& all = *new std::map<int, rondo::Literal>;
  return all;
}

}  // namespace

#define RONDO_MODULE_FUNCTION extern "C" __attribute__((visibility("default")))

namespace {

template <class Managed>
int taken(Managed* tensor, char* error, std::size_t size) {
  try {
    rondo::Literal literal = rondo::from_dlpack(tensor);
    const int number = literals().empty() ? 0 : literals().rbegin()->first + 1;
    literals()[number] = std::move(literal);
    return number;
  } catch (const rondo::Error& refused) {
    std::snprintf(error, size, "%s", refused.what());
    return -1;
  }
}

}  // namespace

/// The number of a new literal; -1, and the error's text, if the array is refused.
RONDO_MODULE_FUNCTION int rondo_take(DLManagedTensor* tensor, char* error, std::size_t size) {
  return taken(tensor, error, size);
}
RONDO_MODULE_FUNCTION int rondo_take_versioned(DLManagedTensorVersioned* tensor, char* error,
                                               std::size_t size) {
  return taken(tensor, error, size);
}

/// Type and elements.
RONDO_MODULE_FUNCTION void rondo_text(int literal, char* text, std::size_t size) {
  std::snprintf(text, size, "%s", literals().at(literal).str().c_str());
}

RONDO_MODULE_FUNCTION const void* rondo_address(int literal) {
  return literals().at(literal).bytes();
}

/// Adds 1 to the first element, a float.
RONDO_MODULE_FUNCTION void rondo_change(int literal) {
  literals().at(literal).mutable_data<float>()[0] += 1;
}

RONDO_MODULE_FUNCTION DLManagedTensor* rondo_give(int literal) {
  return rondo::to_dlpack(literals().at(literal));
}

RONDO_MODULE_FUNCTION DLManagedTensorVersioned* rondo_give_versioned(int literal) {
  return rondo::to_dlpack_versioned(literals().at(literal));
}

RONDO_MODULE_FUNCTION void rondo_forget(int literal) { literals().erase(literal); }
