// A lower program as a C file and its header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "c/interface.h"
#include "c/self_test.h"
#include "lower/program.h"

namespace rondo::c {

struct FileOptions {
  std::string name = {};     // of the function; an identifier
  std::string header = {};   // as it is included
  std::string program = {};  // for the first comment: what was written
  bool static_workspace = false;
  const SelfTest* test = nullptr;
  bool has_double = true;  // else doubles are integers where they can be (c/wide.h)
};

struct File {
  std::string source, header;
  std::int64_t workspace_bytes = 0;
  std::string arguments;  // of a call, from pointers to the structs: `in, out, work`
  std::vector<Leaf> argument_leaves, result_leaves;
  bool has_arguments = false, has_results = false, returns_status = false;
};

/// Throws TraceError for what C has no form for: calls of kernels, tapes that grow.
File write(const lower::Program& program, const std::vector<Field>& arguments,
           const std::vector<Field>& results, const FileOptions& options);

}  // namespace rondo::c
