// The store by which clients of several processes find one another, as a plugin calls it.
#include <thread>

#include "pjrt/fake.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using KeyValue = Fake;

pjrt::Client client_with(const pjrt::KeyValueStore& store) {
  return pjrt::Client(pjrt::Plugin::load(RONDO_FAKE_PLUGIN), {{"node_id", 0}, {"num_nodes", 2}},
                      store);
}

TEST_F(KeyValue, APluginPutsAndGetsByTheUsersFunctions) {
  state.asks_store = true;
  std::vector<std::string> calls;
  const pjrt::KeyValueStore inner = pjrt::KeyValueStore::in_process();
  const pjrt::KeyValueStore store{
      [&](const std::string& key, std::int64_t milliseconds) {
        calls.push_back("get " + key + " " + std::to_string(milliseconds));
        return inner.get(key, milliseconds);
      },
      [&](const std::string& key) {
        calls.push_back("try_get " + key);
        return inner.try_get(key);
      },
      [&](const std::string& key, const std::string& value) {
        calls.push_back("put " + key + " " + std::to_string(value.size()));
        inner.put(key, value);
      }};
  {
    const pjrt::Client client = client_with(store);
    // A value with a zero byte, one that exists, and two that do not.
    EXPECT_EQ(calls,
              (std::vector<std::string>{"put greeting 6", "get greeting 1000", "try_get greeting",
                                        "try_get nothing", "get nothing 20"}));
    EXPECT_EQ(inner.try_get("greeting"), std::string("hel\0lo", 6));
    EXPECT_EQ(state.not_found, 5);
    EXPECT_EQ(state.too_late, 4);
  }
  EXPECT_EQ(state.errors, 0);
}

TEST_F(KeyValue, WhatTheFunctionsThrowIsTheClientsError) {
  state.asks_store = true;
  pjrt::KeyValueStore store = pjrt::KeyValueStore::in_process();
  store.put = [](const std::string&, const std::string&) {
    throw std::runtime_error("the server is gone");
  };
  expect_error<pjrt::PluginError>([&] { client_with(store); },
                                  {"pjrt::Client", "the server is gone", "INTERNAL"});
  store = pjrt::KeyValueStore::in_process();
  store.get = [](const std::string&, std::int64_t) -> std::optional<std::string> { throw 42; };
  expect_error<pjrt::PluginError>([&] { client_with(store); },
                                  {"the key-value store threw an exception"});
  EXPECT_EQ(state.clients, 0);
}

TEST_F(KeyValue, AStoreHasAllFunctionsOrNone) {
  pjrt::KeyValueStore store = pjrt::KeyValueStore::in_process();
  store.try_get = nullptr;
  expect_error<ExecutionError>([&] { client_with(store); }, {"no function try_get", "all three"});
  EXPECT_EQ(state.clients, 0);
  EXPECT_EQ(client_with({}).devices().size(), 2u);
  expect_error<ExecutionError>(
      [] {
        pjrt::Client(pjrt::Plugin::load(RONDO_FAKE_PLUGIN), {{"node_id", -1}});
      },
      {"'node_id'", "from 0"});
  expect_error<ExecutionError>(
      [] {
        pjrt::Client(pjrt::Plugin::load(RONDO_FAKE_PLUGIN), {{"num_nodes", 0}});
      },
      {"'num_nodes'", "from 1"});
}

TEST_F(KeyValue, ThreadsWaitForOneAnothersValues) {
  const pjrt::KeyValueStore store = pjrt::KeyValueStore::in_process();
  std::optional<std::string> got;
  std::thread waits([&, copy = store] { got = copy.get("address", INT64_MAX); });
  store.put("address", "here:1234");
  waits.join();
  EXPECT_EQ(got, "here:1234");
  EXPECT_EQ(store.get("nowhere", 0), std::nullopt);
  store.put("address", "there");
  EXPECT_EQ(store.try_get("address"), "there");
  EXPECT_EQ(pjrt::KeyValueStore::in_process().try_get("address"), std::nullopt);
}

}  // namespace
}  // namespace rondo::testing
