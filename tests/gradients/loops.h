// One body in every kind of loop, and unrolled: the plain C++ loop to which all are equivalent.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {

using Carry = std::vector<Tensor>;
/// The carry after trip i; the index is an s32 scalar.
using LoopBody = std::function<Carry(const Tensor& index, const Carry& carry)>;

enum class LoopKind : std::uint8_t {
  kUnrolled,       // a C++ loop in the trace
  kWhile,          // up to a tensor
  kPromisedWhile,  // the same with a max_trip_count
  kFori,           // up to a C++ integer
  kDynamicFori,    // up to a tensor
  kScan,           // over the indices
};
inline constexpr LoopKind kLoops[] = {LoopKind::kWhile, LoopKind::kPromisedWhile, LoopKind::kFori,
                                      LoopKind::kDynamicFori, LoopKind::kScan};

inline std::string name_of(LoopKind kind) {
  static constexpr std::array kNames{"Unrolled", "While",       "PromisedWhile",
                                     "Fori",     "DynamicFori", "Scan"};
  return kNames.at(static_cast<std::size_t>(kind));
}

inline std::string name_of(Checkpoint policy) {
  static constexpr std::array kNames{"Automatic", "Tape", "Online", "Revolve", "Periodic", "None"};
  const std::string name = kNames.at(static_cast<std::size_t>(policy.policy));
  return policy.slots == 0 ? name : name + std::to_string(policy.slots);
}

/// Whether the loop's length is known from the program.
inline bool has_known_length(LoopKind kind) {
  return kind == LoopKind::kUnrolled || kind == LoopKind::kFori || kind == LoopKind::kScan;
}

/// How often a body runs.
struct Trips {
  int known = 0;        // for loops of known length
  Tensor given = {};    // for the others, an s32 scalar; empty: `known`, hidden from the trace
  int promised = 1000;  // max_trip_count
};

/// `count`, hidden from a trace, which does not know the numbers in x: one more if any were NaN.
inline Tensor hidden_count(int count, const Tensor& x) {
  return count + convert(any(is_nan(x)), DType::kS32);
}

inline Carry run_loop(LoopKind kind, const Trips& trips, const LoopBody& body, const Carry& init,
                      Checkpoint policy = {}) {
  const Tensor upper = trips.given.empty() ? hidden_count(trips.known, init.at(0)) : trips.given;
  switch (kind) {
    case LoopKind::kUnrolled: {
      Carry carry = init;
      for (int i = 0; i < trips.known; i++) carry = body(Tensor(i), carry);
      return carry;
    }
    case LoopKind::kWhile:
    case LoopKind::kPromisedWhile: {
      WhileOptions options;
      options.checkpoint = policy;
      options.name = name_of(kind);
      if (kind == LoopKind::kPromisedWhile) options.max_trip_count = trips.promised;
      using State = std::pair<Tensor, Carry>;
      return while_loop([&](const State& s) { return s.first < upper; },
                        [&](const State& s) { return State(s.first + 1, body(s.first, s.second)); },
                        State(0, init), options)
          .second;
    }
    case LoopKind::kFori:
    case LoopKind::kDynamicFori: {
      ForiOptions options;
      options.checkpoint = policy;
      options.name = name_of(kind);
      if (kind == LoopKind::kFori) return fori_loop(0, trips.known, body, init, options);
      return fori_loop(Tensor(0), upper, body, init, options);
    }
    case LoopKind::kScan: {
      ScanOptions options;
      options.checkpoint = policy;
      options.name = name_of(kind);
      return scan(
                 [&](const Carry& carry, const Tensor& index) {
                   return std::pair(body(index, carry), std::tuple<>());
                 },
                 init, arange(trips.known), options)
          .first;
    }
  }
  return {};
}

/// The same for one tensor.
inline Tensor run_loop(LoopKind kind, const Trips& trips,
                       const std::function<Tensor(const Tensor& index, const Tensor& x)>& body,
                       const Tensor& init, Checkpoint policy = {}) {
  return run_loop(kind, trips, LoopBody([&](const Tensor& index, const Carry& carry) {
                    return Carry{body(index, carry[0])};
                  }),
                  Carry{init}, policy)[0];
}

/// Each must give the same gradient for every loop.
inline constexpr Checkpoint kPolicies[] = {Checkpoint::automatic(), Checkpoint::tape(),
                                           Checkpoint::online(1),   Checkpoint::online(2),
                                           Checkpoint::online(4),   Checkpoint::revolve(1),
                                           Checkpoint::revolve(3),  Checkpoint::periodic(3)};
/// Those whose gradient can be differentiated, printed and run by XLA: a tape needs a known length.
inline std::vector<Checkpoint> lasting_policies_for(LoopKind kind) {
  std::vector<Checkpoint> all(std::begin(kPolicies), std::end(kPolicies));
  if (kind == LoopKind::kWhile || kind == LoopKind::kDynamicFori)
    std::erase(all, Checkpoint::tape());
  return all;
}

/// Calls `test` with each loop and each policy of it.
template <class Test>
void for_each_loop(Test&& test) {
  for (const LoopKind kind : kLoops) {
    for (const Checkpoint policy : kPolicies) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      test(kind, policy);
    }
  }
}
/// The same, with the policies whose gradient can be differentiated.
template <class Test>
void for_each_lasting_loop(Test&& test) {
  for (const LoopKind kind : kLoops) {
    for (const Checkpoint policy : lasting_policies_for(kind)) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      test(kind, policy);
    }
  }
}

inline Literal row(const std::vector<double>& values) { return Literal::from(values); }
/// The elements of an f64 array.
inline std::vector<double> elements_of(const Tensor& x) {
  const Literal value = x.eval();
  return {value.data<double>().begin(), value.data<double>().end()};
}

}  // namespace rondo::testing
