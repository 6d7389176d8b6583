// The structs of arguments and results, named and nested as the user's trees are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "c/writer.h"
#include "rondo/type.h"

namespace rondo::c {

/// A leaf of a tree: its path, such as `arg0.layers[2].w`.
struct Field {
  std::string path;
  TensorType type;      // in memory
  std::string meaning;  // for a comment: the user's type, `f8e4m3fn[4]`
};

/// One struct, with those in it.
struct Struct {
  std::string name;
  std::string text;  // typedefs, the innermost first
  std::vector<Leaf> leaves;
};

/// The struct `prefix`_`suffix`, which is `suffix` in the program: an argument is `in->arg0.w`.
Struct struct_of(const std::vector<Field>& fields, std::string_view prefix,
                 std::string_view suffix);

}  // namespace rondo::c
