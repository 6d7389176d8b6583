// Loops, branches and calls in native code against plain C++.
#include <cmath>
#include <fstream>
#include <thread>

#include "native/run_native.h"

namespace rondo::native_code {
namespace {

using lower::RunFrame;
using lower::Status;
using lower::Type;
using lower::Value;
using NativeLoops = NativeTest;
using NativeCodeMemory = NativeTest;

std::uint32_t add_loop(TestProgram& p, const char* name) {
  p.program().loops.emplace_back().name = name;
  return static_cast<std::uint32_t>(p.program().loops.size() - 1);
}

/// while (i < n) x = x * a + b, i++.
lower::Program scalar_while(std::optional<std::int64_t> promised = std::nullopt) {
  TestProgram p;
  const auto id = add_loop(p, "loop");
  p.program().loops[id].max_trip_count = promised;
  const Value in = p.argument(0), n = p.load_at(Type::kS32, p.argument(1));
  const Value a = p.load_at(Type::kF32, in, 4), b = p.load_at(Type::kF32, in, 8);
  const auto loop =
      p.begin_while(std::vector<Value>{p.load_at(Type::kF32, in), p.constant(Type::kS32, 0)}, id);
  const auto carries = p.program().whiles[loop].carries;
  p.test(p.less(carries[1].param, n));
  p.end_while(std::vector<Value>{p.fma(carries[0].param, a, b),
                                 p.add(carries[1].param, p.constant(Type::kS32, 1))});
  p.store_at(p.program().whiles[loop].carries[0].result, p.result(0));
  p.store_at(p.program().whiles[loop].carries[1].result, p.result(0), 4);
  return p.finish();
}

Buffers scalar_while_buffers(std::int32_t trips) {
  Buffers buffers;
  buffers.add_argument(std::vector<float>{0.5f, 0.999f, 0.01f});
  buffers.add_argument(std::vector<std::int32_t>{trips});
  buffers.add_result(8);
  return buffers;
}

TEST_F(NativeLoops, WhileCountsItsTrips) {
  const lower::Program program = scalar_while();
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    for (std::int32_t trips : {0, 1, 2, 1000}) {
      Buffers buffers = scalar_while_buffers(trips);
      ASSERT_EQ(buffers.run(*code, program), Status::kDone);
      float x = 0.5f;
      for (int i = 0; i < trips; i++) x = std::fma(x, 0.999f, 0.01f);
      EXPECT_EQ(buffers.result<float>(0)[0], x);
      EXPECT_EQ(buffers.result<std::int32_t>(0)[1], trips);
      EXPECT_EQ(buffers.trips[0], trips);
      EXPECT_EQ(buffers.total_trips[0], trips);
    }
  }
}

TEST_F(NativeLoops, LimitsAndPromises) {
  for (const Target* target : targets()) {
    const lower::Program program = scalar_while();
    const auto code = compile(program, target);
    RunFrame limits;
    limits.max_iterations = 10;
    Buffers buffers = scalar_while_buffers(10);
    EXPECT_EQ(buffers.run(*code, program, limits), Status::kDone);
    buffers = scalar_while_buffers(11);
    EXPECT_EQ(buffers.run(*code, program, limits), Status::kTooManyTrips);
    EXPECT_EQ(buffers.frame.failed_loop, 0u);
    EXPECT_EQ(buffers.trips[0], 11);
    const lower::Program promising = scalar_while(5);
    const auto promising_code = compile(promising, target);
    buffers = scalar_while_buffers(6);
    EXPECT_EQ(buffers.run(*promising_code, promising), Status::kBrokenPromise);
    buffers = scalar_while_buffers(5);
    EXPECT_EQ(buffers.run(*promising_code, promising), Status::kDone);
  }
}

TEST_F(NativeLoops, PollingCallsAttendAndKeepsEveryValue) {
  const lower::Program program = scalar_while();
  static int calls;
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    calls = 0;
    const std::atomic<std::uint32_t> raised{1};
    RunFrame frame;
    frame.poll = &raised;
    frame.at_safepoint = [](RunFrame* f, std::uint32_t loop) {
      // Everything that a C++ function may change is changed.
      volatile double junk[16];
      for (int i = 0; i < 16; i++) junk[i] = std::sin(static_cast<double>(i));
      if (junk[3] > 1) return false;  // no sine is
      calls++;
      return loop == 0 && f->trips[0] < 50;
    };
    Buffers buffers = scalar_while_buffers(49);
    EXPECT_EQ(buffers.run(*code, program, frame), Status::kDone);
    EXPECT_EQ(calls, 49);
    float x = 0.5f;
    for (int i = 0; i < 49; i++) x = std::fma(x, 0.999f, 0.01f);
    EXPECT_EQ(buffers.result<float>(0)[0], x);
    buffers = scalar_while_buffers(100);
    EXPECT_EQ(buffers.run(*code, program, frame), Status::kPolled);
    EXPECT_EQ(buffers.frame.failed_loop, 0u);
    EXPECT_EQ(buffers.trips[0], 50);
  }
}

TEST_F(NativeLoops, CarriesAreSwappedAndRotated) {
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0);
  std::vector<Value> init;
  for (int i = 0; i < 5; i++) init.push_back(p.load_at(Type::kF64, in, std::int64_t{8} * i));
  const Value n = p.load_at(Type::kS64, in, 40);
  const auto loop = p.begin_for(p.index(0), n, 1, init);
  const auto c = p.program().fors[loop].carries;
  // Two are swapped, two rotate with a sum, and one gets another's old value.
  p.end_for(std::vector<Value>{c[1].param, c[0].param, c[3].param, p.add(c[2].param, c[3].param),
                               c[2].param});
  for (int i = 0; i < 5; i++)
    p.store_at(p.program().fors[loop].carries[static_cast<std::size_t>(i)].result, out,
               std::int64_t{8} * i);
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    for (std::int64_t trips : {0, 1, 2, 7}) {
      Buffers buffers;
      buffers.add_argument(std::vector<double>{1, 2, 3, 4, 5, 0});
      buffers = {};
      std::vector<double> values{1, 2, 3, 4, 5, std::bit_cast<double>(trips)};
      buffers.add_argument(values);
      buffers.add_result(40);
      ASSERT_EQ(buffers.run(*code, program), Status::kDone);
      double x[5] = {1, 2, 3, 4, 5};
      for (std::int64_t t = 0; t < trips; t++) {
        const double y[5] = {x[1], x[0], x[3], x[2] + x[3], x[2]};
        std::copy(y, y + 5, x);
      }
      EXPECT_EQ(buffers.result<double>(0), std::vector<double>(x, x + 5)) << trips;
    }
  }
}

/// sum over i < n, j < i of a while that halves i + j, by branches.
TEST_F(NativeLoops, NestsWithBranches) {
  TestProgram p;
  const Value n = p.load_at(Type::kS64, p.argument(0));
  const auto outer_id = add_loop(p, "outer"), inner_id = add_loop(p, "inner");
  const auto outer = p.begin_for(p.index(0), n, 1, std::vector<Value>{p.index(0)}, outer_id);
  const Value i = p.program().fors[outer].index, sum = p.program().fors[outer].carries[0].param;
  const auto inner = p.begin_for(p.index(0), i, 1, std::vector<Value>{sum}, inner_id);
  const Value j = p.program().fors[inner].index;
  const Value inner_sum = p.program().fors[inner].carries[0].param;
  const auto halving = p.begin_while(std::vector<Value>{p.add(i, j), inner_sum});
  const auto c = p.program().whiles[halving].carries;
  p.test(p.greater(c[0].param, p.index(0)));
  p.begin_if(p.equal(p.bit_and(c[0].param, p.index(1)), p.index(1)));
  const Value odd = p.add(c[1].param, c[0].param);
  p.begin_else();
  const Value even = p.subtract(c[1].param, p.index(1));
  const auto chosen = p.end_if(std::vector<Value>{odd}, std::vector<Value>{even});
  p.end_while(std::vector<Value>{
      p.binary(lower::Opcode::kShiftRightArithmetic, c[0].param, p.index(1)), chosen[0]});
  p.end_for(std::vector<Value>{p.program().whiles[halving].carries[1].result});
  p.end_for(std::vector<Value>{p.program().fors[inner].carries[0].result});
  p.store_at(p.program().fors[outer].carries[0].result, p.result(0));
  const lower::Program program = p.finish();
  std::int64_t want = 0;
  for (std::int64_t x = 0; x < 20; x++) {
    for (std::int64_t y = 0; y < x; y++) {
      for (std::int64_t z = x + y; z > 0; z >>= 1) want += z & 1 ? z : -1;
    }
  }
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(std::vector<std::int64_t>{20});
    buffers.add_result(8);
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<std::int64_t>(0)[0], want);
    EXPECT_EQ(buffers.total_trips, (std::vector<std::int64_t>{20, 190}));
  }
}

/// More simultaneous values than there are registers, of both classes, across a loop and calls.
TEST_F(NativeLoops, SpillsKeepValues) {
  constexpr int kCount = 50;
  TestProgram p;
  const Value floats = p.argument(0), integers = p.argument(1);
  std::vector<Value> init;
  for (int i = 0; i < kCount; i++)
    init.push_back(p.load_at(Type::kF32, floats, std::int64_t{4} * i));
  for (int i = 0; i < kCount; i++)
    init.push_back(p.load_at(Type::kS32, integers, std::int64_t{4} * i));
  const auto loop = p.begin_for(p.index(0), p.index(3), 1, init);
  const auto carries = p.program().fors[loop].carries;
  std::vector<Value> next;
  float (*const sine)(float) = [](float x) { return std::sin(x); };
  const Value called = p.math_call(sine, "sine", carries[0].param);
  for (std::size_t i = 0; i < kCount; i++)
    next.push_back(p.fma(carries[i].param, called, carries[(i + 1) % kCount].param));
  for (std::size_t i = 0; i < kCount; i++)
    next.push_back(p.add(carries[kCount + i].param, carries[kCount + (i + 7) % kCount].param));
  p.end_for(next);
  for (int i = 0; i < 2 * kCount; i++)
    p.store_at(p.program().fors[loop].carries[static_cast<std::size_t>(i)].result, p.result(0),
               std::int64_t{4} * i);
  const lower::Program program = p.finish();
  std::vector<float> x(kCount);
  std::vector<std::int32_t> k(kCount);
  for (int i = 0; i < kCount; i++)
    x[static_cast<std::size_t>(i)] = 0.25f * static_cast<float>(i),
    k[static_cast<std::size_t>(i)] = i;
  Buffers buffers;
  buffers.add_argument(x);
  buffers.add_argument(k);
  buffers.add_result(std::size_t{8} * kCount);
  for (int trip = 0; trip < 3; trip++) {
    const auto y = x;
    const auto m = k;
    const float s = std::sin(y[0]);
    for (std::size_t i = 0; i < kCount; i++) {
      x[i] = std::fma(y[i], s, y[(i + 1) % kCount]);
      k[i] = m[i] + m[(i + 7) % kCount];
    }
  }
  for (const Target* target : targets()) {
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    const auto floats_out = buffers.result<float>(0);
    const auto integers_out = buffers.result<std::int32_t>(0);
    for (std::size_t i = 0; i < kCount; i++) {
      EXPECT_EQ(floats_out[i], x[i]) << i;
      EXPECT_EQ(integers_out[kCount + i], k[i]) << i;
    }
  }
}

TEST_F(NativeLoops, MathCallsHeedTheirPredicate) {
  static int calls;
  double (*const counted)(double, double) = [](double x, double y) {
    calls++;
    return x - y;
  };
  TestProgram p;
  const Value in = p.argument(0);
  const Value x = p.load_at(Type::kF64, in), y = p.load_at(Type::kF64, in, 8);
  p.store_at(p.add(p.math_call(counted, "counted", x, y, p.greater(x, y)), y), p.result(0));
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    calls = 0;
    for (const auto& [a, b, want] : {std::array{5.0, 3.0, 5.0}, {3.0, 5.0, 5.0}}) {
      Buffers buffers;
      buffers.add_argument(std::vector<double>{a, b});
      buffers.add_result(8);
      ASSERT_EQ(buffers.run(*code, program), Status::kDone);
      EXPECT_EQ(buffers.result<double>(0)[0], want);
    }
    EXPECT_EQ(calls, 1);
  }
}

struct Doubler : lower::Kernel {
  void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }
  bool run(std::byte* const* buffers, RunFrame&) const noexcept override {
    float x;
    std::memcpy(&x, buffers[0], 4);
    if (x < 0) return false;
    x *= 2;
    std::memcpy(buffers[1], &x, 4);
    return true;
  }
};

TEST_F(NativeLoops, KernelsAndCopies) {
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0);
  const Value place = p.buffer({lower::Storage::kArena, 0, 64, 512});
  const Value kept = p.load_at(Type::kF32, in, 8);
  p.copy({in, 0, {}}, {place, 0, {}}, 12);
  p.copy({in, 0, {}}, {place, 64, {}}, 300);
  p.call({std::make_shared<Doubler>(), {place, out}});
  p.store_at(kept, out, 4);
  p.store_at(p.load_at(Type::kF32, place, 64 + 296), out, 8);
  p.program().arena_bytes = 1024;
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    Buffers buffers;
    std::vector<float> values(75, 1.5f);
    values[0] = 21, values[2] = 7, values[74] = 9;
    buffers.add_argument(values);
    buffers.add_result(12);
    ASSERT_EQ(buffers.run(*code, program), Status::kDone);
    EXPECT_EQ(buffers.result<float>(0), (std::vector<float>{42, 7, 9}));
    Buffers failing;
    values[0] = -1;
    failing.add_argument(values);
    failing.add_result(12);
    EXPECT_EQ(failing.run(*code, program), Status::kKernelFailed);
  }
}

TEST_F(NativeCodeMemory, IsGivenBackAndUsedAgain) {
  const lower::Program program = scalar_while();
  const std::size_t before = code_bytes_in_use();
  for (int round = 0; round < 100; round++) {
    const auto one = compile(program), two = compile(program);
    EXPECT_GT(code_bytes_in_use(), before);
    EXPECT_LT(code_bytes_in_use(), before + 8192);
  }
  EXPECT_EQ(code_bytes_in_use(), before);
}

TEST_F(NativeCodeMemory, ThreadsCompileAndRunAtOnce) {
  const lower::Program program = scalar_while();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; round++) {
        const auto code = compile(program);
        Buffers buffers = scalar_while_buffers(round);
        if (buffers.run(*code, program) != Status::kDone) wrong++;
        if (buffers.result<std::int32_t>(0)[1] != round) wrong++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#if defined(__linux__)
TEST_F(NativeCodeMemory, NoPageIsWritableAndExecutable) {
  const auto code = compile(scalar_while());
  const auto start = reinterpret_cast<std::uintptr_t>(code->code().data());
  std::ifstream maps("/proc/self/maps");
  int executable = 0;
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    // BEGIN-END rwxp …, in hexadecimal
    const std::uintptr_t first = std::stoull(line, nullptr, 16);
    const std::uintptr_t end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    if (first <= start && start < end) executable += line[line.find(' ') + 3] == 'x';
  }
  EXPECT_EQ(executable, 1);
}
#endif

}  // namespace
}  // namespace rondo::native_code
