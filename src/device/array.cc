#include <memory>
#include <utility>

#include "device/array_state.h"
#include "fmt/format.h"
#include "ir/lazy.h"
#include "rondo/error.h"

namespace rondo::pjrt {

namespace {

const ArrayState& held(const std::shared_ptr<const ArrayState>& state, const char* what) {
  if (!state) {
    throw ExecutionError(fmt::format(
        "{}: this pjrt::DeviceArray holds nothing\n  Make one of a literal and a device.", what));
  }
  state->client->check_process();
  return *state;
}

const ArrayState& readable(const std::shared_ptr<const ArrayState>& state, const char* what) {
  const ArrayState& array = held(state, what);
  if (array.donated.load(std::memory_order_acquire)) {
    throw ExecutionError(
        fmt::format("{}: this array, {}, was donated to a program, which may have written over it\n"
                    "  Do not use it again, or leave its parameter out of CompileOptions::donate.",
                    what, array.type.str()));
  }
  return array;
}

Literal value_of(const Tensor& tensor) {
  if (const Literal* known = ir::known_value(tensor)) return *known;
  return ir::evaluate({&tensor, 1}, {}, "pjrt::DeviceArray").front();
}

}  // namespace

ArrayState::~ArrayState() = default;

DeviceArray::DeviceArray(const Literal& literal, const Device& device) {
  const auto& client = DeviceAccess::state(device);
  if (!client) {
    throw ExecutionError(
        "pjrt::DeviceArray: the device is none\n  Take one of pjrt::Client::devices().");
  }
  *this = client->upload(literal, DeviceAccess::index(device));
}

DeviceArray::DeviceArray(const Tensor& tensor, const Device& device) {
  if (DeviceScope::current() && !tensor.empty() && !tensor.node()->traced)
    ir::keep_values({&tensor, 1}, {}, "pjrt::DeviceArray");
  if (const DeviceArray* array = ir::device_value(tensor))
    *this = array->copy_to(device);
  else
    *this = DeviceArray(value_of(tensor), device);
}

Tensor DeviceArray::tensor() const {
  held(state_, "pjrt::DeviceArray::tensor");
  return ir::make_device_value(*this);
}

const TensorType& DeviceArray::type() const { return held(state_, "pjrt::DeviceArray::type").type; }

Device DeviceArray::device() const {
  const ArrayState& array = held(state_, "pjrt::DeviceArray::device");
  return DeviceAccess::make(array.client, array.device);
}

bool DeviceArray::ready() const {
  constexpr const char* what = "pjrt::DeviceArray::ready";
  return readable(state_, what).ready(what);
}

void DeviceArray::await() const {
  constexpr const char* what = "pjrt::DeviceArray::await";
  readable(state_, what).await(what);
}

Literal DeviceArray::to_literal() const {
  constexpr const char* what = "copying an array from a device";
  return readable(state_, what).to_literal(what);
}

DeviceArray DeviceArray::copy_to(const Device& device) const {
  constexpr const char* what = "pjrt::DeviceArray::copy_to";
  const ArrayState& array = readable(state_, what);
  const std::size_t index = DeviceAccess::index(device);
  if (DeviceAccess::state(device) != array.client) return {to_literal(), device};
  return index == array.device ? *this : array.copy_to(index, what);
}

bool DeviceArray::donated() const {
  return held(state_, "pjrt::DeviceArray::donated").donated.load(std::memory_order_acquire);
}

std::string DeviceArray::str() const {
  if (!state_) return "no array";
  return state_->type.str() + " on " + DeviceAccess::make(state_->client, state_->device).str();
}

}  // namespace rondo::pjrt
