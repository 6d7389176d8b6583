// Compiled programs on disk, on the fake plugin (counted) and on a real one.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>

#include "pjrt/api.h"
#include "pjrt/fake.h"
#include "pjrt/real_plugin.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("rondo_cache" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    setenv("RONDO_CACHE_DIR", path_.c_str(), 1);
  }
  ~Folder() {
    unsetenv("RONDO_CACHE_DIR");
    unsetenv("RONDO_CACHE_BYTES");
    fs::remove_all(path_);
  }
  std::vector<fs::path> files() const {
    if (!fs::exists(path_)) return {};
    return {fs::directory_iterator(path_), fs::directory_iterator()};
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class DiskCache : public Fake {
 protected:
  /// A different program for each size.
  static Executable compiled(const pjrt::Device& device, std::int64_t size = 2) {
    return compile(trace([](Tensor x) { return x; }, f32({size})), {.device = device});
  }
  Folder folder;
};

TEST_F(DiskCache, AProgramIsCompiledOnce) {
  const pjrt::DiskCacheStats before = pjrt::disk_cache();
  const pjrt::Client one = client();
  for (int i = 0; i < 3; i++) {
    const Executable executable = compiled(one.devices()[0]);
    expect_values<float>(executable.run({Literal::from<float>({1, 2}, {2})})[0], {2}, {1, 2});
  }
  EXPECT_EQ(state.compiled, 1);
  EXPECT_EQ(state.deserialized, 2);
  EXPECT_EQ(folder.files().size(), 1u);
  EXPECT_EQ(pjrt::disk_cache().hits - before.hits, 2);
  EXPECT_EQ(pjrt::disk_cache().misses - before.misses, 1);
  EXPECT_EQ(pjrt::disk_cache().failures, before.failures);
}

TEST_F(DiskCache, WhatDiffersIsAnotherProgram) {
  const pjrt::Client one = client();
  compiled(one.devices()[0]);
  compiled(one.devices()[0], 3);
  compiled(one.devices()[1]);  // another device assignment; the fake plugin says it is device 0
  const FakeCopy copy("rondo_cached");
  compiled(pjrt::Client(pjrt::Plugin::load(copy.path())).devices()[0]);
  EXPECT_EQ(state.compiled + copy.state().compiled, 4);
  EXPECT_EQ(folder.files().size(), 4u);
}

TEST_F(DiskCache, FilesThatWereCutOrChangedAreNotGivenToThePlugin) {
  const pjrt::Client one = client();
  compiled(one.devices()[0]);
  const fs::path file = folder.files().at(0);
  const auto size = fs::file_size(file);
  for (const auto cut : {std::uintmax_t{0}, std::uintmax_t{10}, size / 2, size - 1}) {
    fs::resize_file(file, cut);
    compiled(one.devices()[0]);
    EXPECT_EQ(fs::file_size(file), size);
  }
  {
    std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
    change.seekp(static_cast<std::streamoff>(size - 40));
    change.put('#');
  }
  compiled(one.devices()[0]);
  EXPECT_EQ(state.compiled, 6);
  EXPECT_EQ(state.deserialized, 0);
  // Bytes that the plugin rejects are compiled anew as well.
  state.failing = pjrt::api::ExecutableDeserializeAndLoad::kIndex;
  compiled(one.devices()[0]);
  EXPECT_EQ(state.compiled, 7);
}

TEST_F(DiskCache, AFolderThatCannotBeWrittenIsNoError) {
  setenv("RONDO_CACHE_DIR", "/proc/none", 1);
  const auto before = pjrt::disk_cache().failures;
  compiled(client().devices()[0]);
  EXPECT_EQ(state.compiled, 1);
  EXPECT_EQ(pjrt::disk_cache().failures, before + 1);
}

TEST_F(DiskCache, AFileThatCannotBeFinishedLeavesNothingBehind) {
  const pjrt::Client one = client();
  const auto before = pjrt::disk_cache().failures;
  {
    // As if the disk were full: files may not exceed this size.
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const rlimit few{16, usual.rlim_max};
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    const Executable executable = compiled(one.devices()[0]);
    setrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, old_handler);
    expect_values<float>(executable.run({Literal::from<float>({1, 2}, {2})})[0], {2}, {1, 2});
  }
  EXPECT_EQ(pjrt::disk_cache().failures, before + 1);
  EXPECT_TRUE(folder.files().empty());
  // Something else is at the path of the file.
  compiled(one.devices()[0]);
  const fs::path file = folder.files().at(0);
  fs::remove(file);
  fs::create_directories(file / "inside");
  compiled(one.devices()[0]);
  EXPECT_EQ(pjrt::disk_cache().failures, before + 2);
  EXPECT_EQ(folder.files(), std::vector<fs::path>{file});
  EXPECT_EQ(state.compiled, 3);
}

TEST_F(DiskCache, WhatWasNotUsedForTheLongestTimeGoes) {
  const pjrt::Client one = client();
  compiled(one.devices()[0], 1);
  const auto bytes = fs::file_size(folder.files().at(0));
  setenv("RONDO_CACHE_BYTES", std::to_string(bytes * 3 + bytes / 2).c_str(), 1);
  const auto earlier = [&](int hours) {
    for (const fs::path& file : folder.files())
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(hours));
  };
  for (const std::int64_t size : {2, 3}) {
    earlier(1);
    compiled(one.devices()[0], size);
  }
  compiled(one.devices()[0], 1);  // was used last
  compiled(one.devices()[0], 4);
  EXPECT_EQ(folder.files().size(), 3u);
  state.compiled = 0;
  for (const std::int64_t size : {1, 3, 4}) compiled(one.devices()[0], size);
  EXPECT_EQ(state.compiled, 0);
  setenv("RONDO_CACHE_BYTES", "much", 1);
  expect_error<ExecutionError>([&] { compiled(one.devices()[0], 9); }, {"RONDO_CACHE_BYTES"});
}

TEST_F(DiskCache, ProcessesShareAFolder) {
  const FakeCopy unused("rondo_sharing");  // this process has no client of it
  std::vector<pid_t> children;
  for (int child = 0; child < 4; child++) {
    const pid_t pid = fork();
    if (pid == 0) {
      int wrong = 0;
      const pjrt::Client own(pjrt::Plugin::load(unused.path()));
      for (int round = 0; round < 20; round++) {
        for (std::int64_t size = 1; size <= 8; size++) {
          const std::vector<float> values(static_cast<std::size_t>(size), 3.0f);
          const Literal x = Literal::from(values);
          wrong += !compiled(own.devices()[0], size).run({x})[0].identical(x);
        }
      }
      _exit(wrong);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(folder.files().size(), 8u);
}

using RealDiskCache = RealPlugin;

TEST_F(RealDiskCache, ProgramsComeBackFromDisk) {
  const Folder folder;
  const auto f = [](Tensor x) {
    return fori_loop(
        0, 10, [](Tensor, Tensor s) { return tanh(s) * 1.5; }, x);
  };
  const auto before = pjrt::disk_cache();
  const Literal x = Literal::from<double>({0.5, -2}, {2});
  const Literal first = compile(trace(f, f64({2})), {.device = device(4)}).run({x})[0];
  EXPECT_EQ(folder.files().size(), 1u);
  const Literal second = compile(trace(f, f64({2})), {.device = device(4)}).run({x})[0];
  EXPECT_EQ(pjrt::disk_cache().hits - before.hits, 1);
  EXPECT_TRUE(first.identical(second));
  EXPECT_NEAR(first.data<double>()[0], compile(trace(f, f64({2}))).run({x})[0].data<double>()[0],
              1e-12);
}

TEST_F(RealDiskCache, WhatComesBackWritesOverArgumentsAndRunsOnAMesh) {
  const Folder folder;
  std::vector<pjrt::Device> devices = client().devices();
  std::reverse(devices.begin(), devices.end());
  const Mesh mesh({{"data", 8}}, devices);
  const Literal ones = Literal::from(std::vector<float>(1 << 15, 1.0f));
  for (const std::int64_t hits : {0, 3}) {
    const auto before = pjrt::disk_cache();
    const auto f = jit(
        [](Tensor x, Tensor y) {
          return std::tuple{x + y, x - y};
        },
        {.device = device(1)});
    auto [x, y] = f(Tensor(ones), Tensor(ones));     // 2 and 0
    std::tie(x, y) = f(std::move(x), std::move(y));  // twice 2, in the program that donates both
    const Tensor held = x;
    std::tie(x, y) = f(std::move(x), std::move(y));
    EXPECT_EQ(held.eval().data<float>()[7], 2);
    EXPECT_EQ(x.eval().data<float>()[7], 4);
    EXPECT_EQ(y.eval().data<float>()[7], 0);
    const auto rows = jit(
        [&](Tensor t) {
          return shard(sum(shard(t, mesh, {"data", std::nullopt}), {1}), mesh, {"data"});
        },
        {.mesh = mesh});
    const Literal sums = rows(convert(reshape(arange(32), {16, 2}), DType::kF32)).eval();
    for (std::size_t row = 0; row < 16; row++)
      EXPECT_EQ(sums.data<float>()[row], static_cast<float>(4 * row + 1));
    EXPECT_EQ(pjrt::disk_cache().hits - before.hits, hits);
    EXPECT_EQ(pjrt::disk_cache().misses - before.misses, 3 - hits);
  }
}

}  // namespace
}  // namespace rondo::testing
