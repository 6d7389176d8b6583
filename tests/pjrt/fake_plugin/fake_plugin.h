// A plugin that fails as the tests require: the interface between its shared library and the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rondo::testing {

/// Its settings and counters. The tests find it by the symbol rondo_fake_plugin_state.
struct FakePlugin {
  // The function that fails, by its number in the table; -1: none.
  int failing = -1;
  int passes = 0;       // calls of it that still succeed
  bool throws = false;  // a C++ exception in place of an error
  bool throws_int = false;
  int code = 13;
  int idle = -1;  // the function that succeeds and does nothing
  const char* message = "the fake plugin was told to fail";
  bool late = false;             // the events of results end in an error
  bool not_on_cpu = false;       // the elements are available by copies only
  std::int64_t extra_bytes = 0;  // added to the reported size of an array
  bool other_result_type = false;
  bool no_result = false;  // Execute succeeds and returns nothing
  bool other_device = false;
  bool no_devices = false;
  bool asks_store = false;  // Client_Create puts and gets keys and values
  /// Computes the results of one device from its arguments; null: programs return their arguments.
  std::function<void(const std::vector<const char*>& arguments, const std::vector<char*>& results)>
      compute = nullptr;
  // Of the table.
  int major = 0;
  int minor = 115;
  std::uint64_t table_size = 0;  // 0: as it is
  int missing = -1;              // a function that is null
  bool no_table = false;

  // Objects that were created and not yet released.
  std::int64_t errors = 0, events = 0, clients = 0, executables = 0, loaded = 0, buffers = 0,
               serialized = 0;
  std::int64_t lent = 0;            // arrays of the host that are read in place
  std::int64_t changed = 0;         // those that had other contents when they were released
  int not_found = 0, too_late = 0;  // statuses of keys that the store does not have
  std::int64_t compiled = 0;        // calls of Client_Compile
  std::int64_t donated = 0;         // arguments that were donated to a run
  std::int64_t left_alone = 0;      // those that could have been, and were not
  std::int64_t deserialized = 0;    // programs that were loaded from bytes
  // Of the last program and the last run.
  std::vector<std::int64_t> assignment = {};  // the ids of all partitions' devices
  std::vector<std::vector<int>> passed = {};  // the ids of the arguments' devices, by device
};

}  // namespace rondo::testing
