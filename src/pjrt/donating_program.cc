#include "pjrt/donating_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "pjrt/disk_cache.h"
#include "rondo/text.h"

namespace rondo::pjrt {

namespace {

/// Below this, no gain is measurable.
constexpr std::int64_t kReusedBytes = 1 << 16;

std::string text_of(const Function& function, const std::optional<Mesh>& mesh,
                    const std::vector<bool>& donated) {
  StablehloOptions options{.mesh = mesh};
  for (std::size_t i = 0; i < donated.size(); i++) {
    if (donated[i]) options.donate.push_back(static_cast<std::int64_t>(i));
  }
  return to_stablehlo_text(function, options);
}

/// The flags that both have, as long as there is a result of the parameter's type for each: those
/// of `first` are matched first.
std::vector<bool> with_places(const ProgramOptions& options, const std::vector<bool>& first,
                              const std::vector<bool>& wanted) {
  std::vector<TensorType> places = options.results;
  const auto take = [&](const TensorType& type) {
    const auto place = std::find(places.begin(), places.end(), type);
    if (place == places.end()) return false;
    places.erase(place);
    return true;
  };
  for (std::size_t i = 0; i < first.size(); i++) {
    if (first[i]) take(options.parameters[i]);
  }
  std::vector<bool> placed(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); i++)
    placed[i] = wanted[i] && take(options.parameters[i]);
  return placed;
}

bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    if (a[i] && b[i]) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> donated_parameters(const Function& function,
                                     std::span<const std::int64_t> donate) {
  const std::size_t count = function.params().size();
  std::vector<bool> donated;
  for (const std::int64_t parameter : donate) {
    if (parameter < 0 || static_cast<std::uint64_t>(parameter) >= count) {
      throw TraceError(fmt::format(
          "compile of '{}': CompileOptions::donate has {}; the program has {} parameters\n  Give "
          "numbers of parameters (leaves of the arguments), from 0.",
          function.name(), parameter, count));
    }
    donated.resize(count);
    donated[static_cast<std::size_t>(parameter)] = true;
  }
  return donated;
}

bool is_unused(const DeviceArray& array, long handles) {
  const std::shared_ptr<const ArrayState>& state = ArrayAccess::state(array);
  if (!state || static_cast<const PluginArray&>(*state).lent || state.use_count() > handles)
    return false;
  // What other threads did with their handles happens before the run: decrementing the count
  // acquires what they released when they decremented it.
  std::shared_ptr(state).reset();
  return true;
}

DonatingProgram::DonatingProgram(Function function, std::optional<Mesh> mesh,
                                 ProgramOptions options)
    : function_(std::move(function)),
      mesh_(std::move(mesh)),
      text_(text_of(function_, mesh_, options.donated)),
      plain_(cached_program(text_, std::move(options))) {
  const ProgramOptions& made = plain_->options();
  for (std::size_t i = 0; i < made.parameters.size(); i++) {
    const TensorType& type = made.parameters[i];
    candidates_.push_back(
        (made.donated.empty() || !made.donated[i]) && type.bytes() >= kReusedBytes &&
        std::find(made.results.begin(), made.results.end(), type) != made.results.end());
  }
}

/// Null if it would donate none of these.
const Program* DonatingProgram::second(const std::vector<bool>& unused) const {
  if (!meet(candidates_, unused)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!second_) {
    ProgramOptions options = plain_->options();
    std::vector<bool> wanted = candidates_;
    for (std::size_t i = 0; i < wanted.size(); i++) wanted[i] = wanted[i] && unused[i];
    const std::vector<bool> more = with_places(options, options.donated, wanted);
    options.donated.resize(more.size());
    for (std::size_t i = 0; i < more.size(); i++)
      options.donated[i] = options.donated[i] || more[i];
    if (!meet(more, more)) return nullptr;
    const std::string text = text_of(function_, mesh_, options.donated);
    second_ = cached_program(text, std::move(options));
  }
  std::vector<bool> more = second_->options().donated;
  for (std::size_t i = 0; i < more.size(); i++) more[i] = more[i] && candidates_[i];
  return meet(more, unused) ? second_.get() : nullptr;
}

std::vector<std::vector<DeviceArray>> DonatingProgram::run(
    std::span<const std::vector<DeviceArray>> arguments, const std::vector<bool>& unused) const {
  const Program* program = second(unused);
  if (!program) return plain_->run(arguments);
  std::vector<bool> left_alone = candidates_;
  for (std::size_t i = 0; i < left_alone.size(); i++) left_alone[i] = left_alone[i] && !unused[i];
  return program->run(arguments, left_alone);
}

std::int64_t DonatingProgram::bytes() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(text_.size()) + plain_->code_bytes() +
         (second_ ? second_->code_bytes() : 0);
}

}  // namespace rondo::pjrt
