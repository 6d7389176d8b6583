// What the fake plugin reads of the programs and the compile options that it is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rondo::testing {

/// A parameter or a result of a program, as each device has it: a dimension that the text splits
/// over axes of the mesh is divided by their sizes.
struct FakeValue {
  std::string dtype;  // `f32`
  std::vector<std::int64_t> dimensions;
  bool donor = false;
};
struct FakeSignature {
  std::vector<FakeValue> parameters, results;
};

/// Of @main, in StableHLO text with Shardy's annotations or none.
FakeSignature signature_of(const std::string& text);

/// The ids in the device assignment of a CompileOptionsProto, by partition.
std::vector<std::int64_t> assigned_devices(const std::string& options);

}  // namespace rondo::testing
