// The batching rules of loops, branches and calls. A fixpoint over the carries finds what must
// differ by lane. Everything else stays one value.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control_flow/carry.h"
#include "ir/batch.h"

namespace rondo::control_flow {

ir::BatchValues while_batch(const ir::BatchCall& call);
ir::Flags while_batched(const ir::Node& node, const ir::Flags& operands, ir::Batching& batching);
ir::BatchValues fori_batch(const ir::BatchCall& call);
ir::Flags fori_batched(const ir::Node& node, const ir::Flags& operands, ir::Batching& batching);
ir::BatchValues scan_batch(const ir::BatchCall& call);
ir::Flags scan_batched(const ir::Node& node, const ir::Flags& operands, ir::Batching& batching);
ir::BatchValues conditional_batch(const ir::BatchCall& call);
ir::Flags conditional_batched(const ir::Node& node, const ir::Flags& operands,
                              ir::Batching& batching);
ir::BatchValues checkpoint_batch(const ir::BatchCall& call);
ir::BatchValues custom_jvp_batch(const ir::BatchCall& call);
ir::BatchValues custom_vjp_batch(const ir::BatchCall& call);
ir::Flags checkpoint_batched(const ir::Node& node, const ir::Flags& operands,
                             ir::Batching& batching);
ir::Flags custom_jvp_batched(const ir::Node& node, const ir::Flags& operands,
                             ir::Batching& batching);
ir::Flags custom_vjp_batched(const ir::Node& node, const ir::Flags& operands,
                             ir::Batching& batching);

/// Which parameters of a body differ by lane: those that do initially, and the carries, from
/// `first` on, that become so by what the body computes.
ir::Flags batched_parameters(const Function& body, std::size_t first, std::size_t carries,
                             ir::Flags parameters, ir::Batching& batching);
/// The same for the bodies of a loop whose operands differ by lane as given. If a bound differs,
/// all carries do, because lanes then end at different trips.
ir::Flags batched_parameters(const ir::Node& node, const ir::Flags& operands,
                             ir::Batching& batching);
/// Which results of a loop or branch differ by lane if these parameters of its bodies do.
ir::Flags batched_results(const ir::Node& node, const ir::Flags& parameters,
                          ir::Batching& batching);
/// The same construct, with regions for all lanes, on operands with lanes where `parameters` says
/// so. Its predicate or selector is the same in all lanes. A loop continues only if `wanted`, a
/// pred that may be empty, holds as well.
ir::BatchValues batch_as_it_is(const ir::BatchCall& call, std::span<const Tensor> operands,
                               const ir::Flags& parameters, const Tensor& wanted = Tensor());
/// Values of a region's parameters.
ir::BatchValues flagged(std::span<const Tensor> values, const ir::Flags& flags);
/// `value` as a result of a region, with lanes or without.
Tensor as_flagged(const ir::BatchValue& value, bool batched, const ir::Batching& batching,
                  SourceLocation at);

/// A region of a call, batched: it has the parameters of the original region, with or without lanes
/// as `given` says. `finish` makes its results of what is computed.
ir::OpenRegion batched_region(const ir::BatchCall& call, const Function& region,
                              const ir::Flags& given,
                              const std::function<Leaves(ir::BatchValues)>& finish);
/// The values as results of a region, with lanes or without.
Leaves with_flags(const ir::BatchCall& call, const ir::BatchValues& values, const ir::Flags& flags);
/// The call with regions for all lanes. What tracing captures in addition (the active lanes)
/// becomes a further operand.
std::vector<Tensor> batched_call(const ir::BatchCall& call, std::vector<ir::OpenRegion> open);

}  // namespace rondo::control_flow
