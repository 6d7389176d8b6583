#include "native/debug/gdb_interface.h"

#include <cstdint>
#include <mutex>
#include <utility>

#include "rondo/export.h"

// What gdb looks for by name. Another compiler in the process may have the same: then there is one
// list, as these definitions are weak.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};

struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

RONDO_API extern jit_descriptor __jit_debug_descriptor;
RONDO_API void __jit_debug_register_code();

[[gnu::weak, gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
[[gnu::weak, gnu::used, gnu::noinline]] void __jit_debug_register_code() {
  asm volatile("" : : : "memory");
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace rondo::native_code {

struct GdbRegistration::Entry : jit_code_entry {};

namespace {

enum class Action : std::uint32_t { kNone, kRegister, kUnregister };

std::mutex& list_mutex() {
  static auto* const mutex = new std::mutex;  // programs in static storage are destroyed late
  return *mutex;
}

/// The list's mutex is held.
void notify(Action action, jit_code_entry& entry) {
  __jit_debug_descriptor.action_flag = static_cast<std::uint32_t>(action);
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = static_cast<std::uint32_t>(Action::kNone);
  __jit_debug_descriptor.relevant_entry = nullptr;
}

}  // namespace

GdbRegistration::GdbRegistration(std::vector<std::byte> object_file)
    : object_file_(std::move(object_file)), entry_(std::make_unique<Entry>()) {
  entry_->symfile_addr = reinterpret_cast<const char*>(object_file_.data());
  entry_->symfile_size = object_file_.size();
  entry_->prev_entry = nullptr;
  std::lock_guard lock(list_mutex());
  entry_->next_entry = __jit_debug_descriptor.first_entry;
  if (entry_->next_entry != nullptr) entry_->next_entry->prev_entry = entry_.get();
  __jit_debug_descriptor.first_entry = entry_.get();
  notify(Action::kRegister, *entry_);
}

GdbRegistration::~GdbRegistration() {
  std::lock_guard lock(list_mutex());
  if (entry_->prev_entry != nullptr)
    entry_->prev_entry->next_entry = entry_->next_entry;
  else
    __jit_debug_descriptor.first_entry = entry_->next_entry;
  if (entry_->next_entry != nullptr) entry_->next_entry->prev_entry = entry_->prev_entry;
  notify(Action::kUnregister, *entry_);
}

}  // namespace rondo::native_code
