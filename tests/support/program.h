// Random programs of ops, loops and branches, as Tensor code that can be run repeatedly: under a
// trace, under an EagerScope, or lazily.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rondo/checkpoint.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::testing {

/// What is known of a value, so that different executors agree: nothing that may be rounded
/// differently ever decides about something discontinuous.
enum class Kind : std::uint8_t {
  kPred,
  kInteger,
  kWhole,  // a float that is a whole number from -64 to 64; exact in every dtype, whoever computes
           // it
  kUnit,   // f32 or f64 from -1 to 1; made by functions that do not magnify errors
};

struct ValueType {
  TensorType type;
  Kind kind = Kind::kPred;
  bool operator==(const ValueType&) const = default;
};

/// The number of a value in its program.
using ValueId = std::size_t;

/// The replacement of a computed value: the same, with a sharding on a mesh.
using Place = std::function<Tensor(const Tensor& value)>;

/// The values of a run, by their ids. Those of a loop's body are overwritten at each trip.
class Environment {
 public:
  explicit Environment(std::size_t values, Place place = {})
      : values_(values), place_(std::move(place)) {}
  const Tensor& operator[](ValueId id) const { return values_[id]; }
  void set(ValueId id, Tensor value) { values_[id] = place_ ? place_(value) : std::move(value); }

 private:
  std::vector<Tensor> values_;
  Place place_;
};

struct Statement {
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::function<std::vector<Tensor>(std::span<const Tensor> operands, Environment&)> action;
};

struct Block {
  std::vector<ValueId> params;
  std::vector<Statement> statements;
  std::vector<ValueId> results;

  std::vector<Tensor> run(std::span<const Tensor> arguments, Environment& environment) const;
};

struct ProgramSize {
  int statements = 10;        // of the entry
  int region_statements = 4;  // at most, of a loop's body or a branch
  int depth = 3;              // of nested loops and branches
  /// In percent, of statements that are the loops executors are most likely to get wrong: carries
  /// that are permuted or share an array, slices of arrays that are written, lanes that stop one by
  /// one. Arrays then have up to 67 elements.
  int dangers = 0;
  int units = 0;               // in percent, of types that are Kind::kUnit before any kind is drawn
  Checkpoint checkpoint = {};  // of all loops
  std::span<const Shape> shapes = {};  // besides those of all programs
  bool taps = true;                    // not supported on a mesh
};
inline constexpr ProgramSize kDangers{
    .statements = 8, .region_statements = 3, .depth = 2, .dangers = 40};

class Program {
 public:
  /// The same seed and size give the same program on every machine.
  static Program random(std::uint64_t seed, const ProgramSize& size = {});

  std::vector<TensorType> params() const;
  /// Arguments of the kinds that the program expects; different for each seed.
  std::vector<Literal> arguments(std::uint64_t seed) const;
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;
  /// A weighted sum of sines of the floating results.
  Tensor loss(std::span<const Tensor> arguments) const;
  /// Its gradient with respect to each floating argument.
  std::vector<Tensor> gradient(std::span<const Tensor> arguments) const;
  /// The program, recorded; with each value, at every depth, replaced by `place`.
  Function traced(const Place& place = {}) const;
  /// The same with only one result, and without what it does not need.
  Function traced_result(std::size_t result) const;

 private:
  std::vector<ValueType> param_types_;
  std::size_t values_ = 0;
  Block entry_;
};

}  // namespace rondo::testing
