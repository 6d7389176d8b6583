#include "pjrt/key_value_store.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"

namespace rondo::pjrt {

namespace {

// Status codes (absl::StatusCode).
constexpr std::int32_t kTooLate = 4;
constexpr std::int32_t kNotFound = 5;
constexpr std::int32_t kInternal = 13;

template <class Args>
api::Error* error_of(const Args& args, std::int32_t code, std::string_view message) {
  return (*args.make_error)(code, message.data(), message.size());
}

/// The result of a callback: no exception may propagate into the plugin.
template <class Args, class Body>
api::Error* answered(Args& args, Body body) noexcept {
  try {
    return body(*static_cast<const KeyValueStore*>(args.argument),
                std::string(args.key, args.key_size));
  } catch (const std::exception& error) {
    return error_of(args, kInternal, error.what());
  } catch (...) {
    return error_of(args, kInternal, "the key-value store threw an exception");
  }
}

/// Returns a value in memory that the plugin releases through the deleter.
template <class Args>
api::Error* give_value(Args& args, const std::optional<std::string>& value, std::int32_t code,
                       const std::string& without) {
  if (!value) return error_of(args, code, without);
  auto memory = std::make_unique<char[]>(value->size() + 1);
  std::copy(value->begin(), value->end(), memory.get());
  args.value = memory.release();
  args.value_size = value->size();
  args.deleter = [](char* given) { delete[] given; };
  return nullptr;
}

api::Error* get(api::KeyValueGet* args) {
  return answered(*args, [&](const KeyValueStore& store, const std::string& key) {
    return give_value(*args, store.get(key, args->milliseconds), kTooLate,
                      fmt::format("the key-value store had no value of '{}' within {} ms", key,
                                  args->milliseconds));
  });
}

api::Error* try_get(api::KeyValueTryGet* args) {
  return answered(*args, [&](const KeyValueStore& store, const std::string& key) {
    return give_value(*args, store.try_get(key), kNotFound,
                      fmt::format("the key-value store has no value of '{}'", key));
  });
}

api::Error* put(api::KeyValuePut* args) {
  return answered(*args, [&](const KeyValueStore& store, const std::string& key) -> api::Error* {
    store.put(key, std::string(args->value, args->value_size));
    return nullptr;
  });
}

struct Values {
  std::mutex mutex;
  std::condition_variable changed;
  absl::flat_hash_map<std::string, std::string> by_key;

  std::optional<std::string> find(const std::string& key) const {
    const auto found = by_key.find(key);
    return found == by_key.end() ? std::nullopt : std::optional(found->second);
  }
};

}  // namespace

void give_store(const KeyValueStore& store, api::ClientCreate& arguments) {
  const int functions = (store.get ? 1 : 0) + (store.try_get ? 1 : 0) + (store.put ? 1 : 0);
  if (functions == 0) return;
  if (functions != 3) {
    throw ExecutionError(fmt::format(
        "pjrt::Client: the KeyValueStore has no function {}\n  Give all three, or none.",
        !store.get       ? "get"
        : !store.try_get ? "try_get"
                         : "put"));
  }
  void* argument = const_cast<KeyValueStore*>(&store);  // passed back to the callbacks
  arguments.get = get;
  arguments.try_get = try_get;
  arguments.put = put;
  arguments.get_argument = arguments.try_get_argument = arguments.put_argument = argument;
}

KeyValueStore KeyValueStore::in_process() {
  const auto values = std::make_shared<Values>();
  return {
      [values](const std::string& key, std::int64_t milliseconds) {
        std::unique_lock lock(values->mutex);
        const std::chrono::milliseconds most(std::min<std::int64_t>(milliseconds, INT32_MAX));
        values->changed.wait_for(lock, most, [&] { return values->by_key.contains(key); });
        return values->find(key);
      },
      [values](const std::string& key) {
        const std::lock_guard lock(values->mutex);
        return values->find(key);
      },
      [values](const std::string& key, const std::string& value) {
        const std::lock_guard lock(values->mutex);
        values->by_key.insert_or_assign(key, value);
        values->changed.notify_all();
      },
  };
}

}  // namespace rondo::pjrt
