// A device of a PJRT plugin, and arrays that live on one. <rondo/pjrt.h> says how to get devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rondo/export.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo::pjrt {

class Client;
struct ClientState;
struct ArrayState;

/// What programs run on: a processor, a GPU, one of several CPU devices. A small handle that keeps
/// its client alive. A default-constructed one stands for no device: the built-in executors.
class RONDO_API Device {
 public:
  Device() = default;
  /// True for a device of a plugin.
  explicit operator bool() const noexcept { return client_ != nullptr; }
  /// The plugin's number for it, as compile options name it. Throws ExecutionError for no device,
  /// as the next three do.
  int id() const;
  /// What the plugin calls its kind: `cpu`, or the name of a GPU.
  const std::string& kind() const;
  /// The plugin's name for its platform: `cpu`, `cuda`, `tpu`.
  const std::string& platform() const;
  /// The client that it belongs to.
  Client client() const;
  /// `cpu:0`; `no device`.
  std::string str() const;
  /// Whether both are the same device of the same client.
  bool operator==(const Device&) const = default;

 private:
  friend struct DeviceAccess;
  friend struct DeviceHash;
  Device(std::shared_ptr<const ClientState> client, std::size_t index)
      : client_(std::move(client)), index_(index) {}
  std::shared_ptr<const ClientState> client_;
  std::size_t index_ = 0;  // among the client's devices
};

/// Of devices that stand among what a program is found by.
struct DeviceHash {
  std::size_t operator()(const Device& device) const noexcept {
    return std::hash<const void*>()(device.client_.get()) + device.index_;
  }
};

/// While it lives, lazy tensors whose values are asked for on its thread are computed on the
/// device: eval(), item(), printing. Values that are kept stay there; the host gets what is read.
/// Scopes nest; a device that is none means the built-in executors. Ends on the thread that made
/// it.
class RONDO_API DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  /// The device of the innermost scope of this thread.
  static const Device& current() noexcept;

 private:
  Device outer_;
};

/// A dense array that stays on its device; copies of the handle share it, and the last one releases
/// it. It may be a result of a program that still runs: what needs the elements waits for them.
/// May be used from many threads at once. Everything but str() and the comparisons throws
/// ExecutionError for a default-constructed one, which holds nothing.
class RONDO_API DeviceArray {
 public:
  DeviceArray() = default;
  /// Copies a host array to a device. Throws ExecutionError where there is no device, where the
  /// literal was moved from, and where the plugin refuses, with its message.
  DeviceArray(const Literal& literal, const Device& device);
  /// The value of a tensor on a device: the array that it is already, if it lives there, else a
  /// copy. Evaluates a lazy tensor.
  DeviceArray(const Tensor& tensor, const Device& device);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  const TensorType& type() const;
  Device device() const;
  /// Whether the elements are there; never waits.
  bool ready() const;
  /// Waits for the elements. Throws ExecutionError where the program that computes them has failed.
  void await() const;
  /// The elements on the host; waits for them, and throws as await().
  Literal to_literal() const;
  /// The array on a device: itself if that is its own, else a copy, through the host where that
  /// belongs to another client.
  DeviceArray copy_to(const Device& device) const;
  /// True once the array was given away to a program that may write over it
  /// (CompileOptions::donate); its elements can then no more be read.
  bool donated() const;
  /// A tensor with this value, which comes to the host only where something there needs it: an op
  /// that runs on a built-in executor, eval(), item().
  Tensor tensor() const;
  /// `f32[2,3] on cpu:0`
  std::string str() const;

 private:
  friend struct ArrayAccess;
  explicit DeviceArray(std::shared_ptr<const ArrayState> state) : state_(std::move(state)) {}
  std::shared_ptr<const ArrayState> state_;
};

}  // namespace rondo::pjrt
