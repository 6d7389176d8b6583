// A device of a PJRT plugin, and arrays stored on one. <rondo/pjrt.h> describes how to get devices.
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

/// A device that runs programs: a processor, a GPU, one of several CPU devices. A small handle that
/// keeps its client alive. A default-constructed one is no device: the built-in executors. Where
/// the processes of several hosts form one client (pjrt::Client::all_devices()), it may belong to
/// another process: such a device has a place in a mesh, but no array can be copied to it from
/// here.
class RONDO_API Device {
 public:
  Device() = default;
  /// True for a device of a plugin.
  explicit operator bool() const noexcept { return client_ != nullptr; }
  /// The plugin's number for it, as compile options name it: the same in the processes of all
  /// hosts. Throws ExecutionError for no device, as do the next five.
  int id() const;
  /// The number of the process to which it belongs, from 0.
  int process_index() const;
  /// Whether it belongs to this process.
  bool is_addressable() const;
  /// The plugin's name for its kind: `cpu`, or the name of a GPU.
  const std::string& kind() const;
  /// The plugin's name for its platform: `cpu`, `cuda`, `tpu`.
  const std::string& platform() const;
  /// The client to which it belongs.
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

/// For devices in the key of a program.
struct DeviceHash {
  std::size_t operator()(const Device& device) const noexcept {
    return std::hash<const void*>()(device.client_.get()) + device.index_;
  }
};

/// While one exists, lazy tensors that its thread evaluates are computed on the device: eval(),
/// item(), printing. Values that are kept stay there; what is read is copied to the host. Scopes
/// nest; no device means the built-in executors. Must be destroyed on the thread that created it.
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

/// A dense array that stays on its device. Copies of the handle share it, and the last one releases
/// it. It may be a result of a program that is still running: functions that need the elements wait
/// for them. May be used from many threads at once. Everything but str() and the comparisons throws
/// ExecutionError for a default-constructed one, which is empty.
class RONDO_API DeviceArray {
 public:
  DeviceArray() = default;
  /// Copies a host array to a device. Throws ExecutionError if there is no device, if it belongs to
  /// another process, if the literal was moved from, or if the plugin rejects it, with its message.
  DeviceArray(const Literal& literal, const Device& device);
  /// The value of a tensor on a device: its array if it is stored there already, else a copy.
  /// Evaluates a lazy tensor.
  DeviceArray(const Tensor& tensor, const Device& device);

  explicit operator bool() const noexcept { return state_ != nullptr; }
  const TensorType& type() const;
  Device device() const;
  /// Whether the elements are available; never waits.
  bool ready() const;
  /// Waits for the elements. Throws ExecutionError if the program that computes them has failed.
  void await() const;
  /// The elements on the host; waits for them, and throws like await().
  Literal to_literal() const;
  /// The array on a device: itself if it is on that device, else a copy, through the host if the
  /// device belongs to another client.
  DeviceArray copy_to(const Device& device) const;
  /// Whether the array was donated to a program that may overwrite it (CompileOptions::donate); its
  /// elements can then no longer be read.
  bool donated() const;
  /// A tensor with this value, which is copied to the host only if something there needs it: an op
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
