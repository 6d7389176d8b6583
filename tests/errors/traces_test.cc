// Tensors that are used where they have no value: after their loop or trace, in another trace, by
// eval inside a trace.
#include <sstream>
#include <thread>

#include "errors/message.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

struct Ranch {
  Tensor step, slab;
};

const auto kBelow3 = [](Tensor x) { return x < 3; };

/// A tensor of the body of a finished loop, and the line of the loop.
struct Leak {
  Tensor tensor;
  std::string loop;
};
Leak leak_of_a_while() {
  Leak leak;
  auto body = [&](Ranch h) {
    leak.tensor = h.slab * 2;
    return Ranch{h.step + 1, h.slab};
  };
  auto below = [](Ranch h) { return h.step < 3; };
  leak.loop = RONDO_HERE, while_loop(below, body, Ranch{0, 1.0f}, {.name = "first"});
  return leak;
}

constexpr char kReturnIt[] = "Return it from there as a result";

TEST(EscapeErrors, FromALoopIntoEval) {
  const Leak leak = leak_of_a_while();
  const std::string home = "'slab' of the body of while_loop 'first' (" + leak.loop + ")";
  EXPECT_REFUSED(leak.tensor.eval(), "a tensor escaped", home, "used by eval", kReturnIt);
  EXPECT_REFUSED(leak.tensor.item<float>(), "a tensor escaped", home, kReturnIt);
  const Tensor more = leak.tensor + 1;
  EXPECT_REFUSED(more.eval(), "a tensor escaped", home, kReturnIt);
  EagerScope eager;
  EXPECT_REFUSED((more * 2).eval(), "a tensor escaped", home, kReturnIt);
}

TEST(EscapeErrors, FromALoopIntoATraceNamesTheLineThatUsesIt) {
  const Leak leak = leak_of_a_while();
  const std::string home = "'slab' of the body of while_loop 'first' (" + leak.loop + ")";
  std::string use;
  auto adds = [&](Tensor x) { return use = RONDO_HERE, x + leak.tensor; };
  const std::string traced = message_of([&] { trace(adds, f32()); });
  expect_parts(traced,
               {"a tensor escaped", home, "the traced function 'main'", "at " + use, kReturnIt});
  expect_parts(message_of([&] { jit(adds)(1.0f); }), {"a tensor escaped", home, "at " + use});
  auto loops = [&](Tensor x) { return while_loop(kBelow3, adds, x); };
  expect_parts(message_of([&] { jit(loops)(1.0f); }), {"a tensor escaped", home, kReturnIt});
  // Outside of traces a loop is lazy: the error comes when it is computed.
  const Tensor lazy = while_loop(kBelow3, adds, 0.0f);
  EXPECT_REFUSED(lazy.eval(), "a tensor escaped", home, kReturnIt);
}

TEST(EscapeErrors, FromALoopIntoTheFunctionAroundIt) {
  std::string loop, use;
  auto uses_body = [&](Tensor x) {
    Tensor inner;
    auto body = [&](Tensor y) {
      use = RONDO_HERE, inner = y * 2;
      return y + 1;
    };
    loop = RONDO_HERE, while_loop(kBelow3, body, x);
    return inner;
  };
  std::string message = message_of([&] { trace(uses_body, f32()); });
  expect_parts(message, {"a tensor escaped", "'carry' of the body of while_loop (" + loop + ")",
                         "the traced function 'main'", "through multiply at " + use, kReturnIt});
  auto returns_index = [&](Tensor x) {
    Tensor index;
    auto body = [&](Tensor i, Tensor y) { return index = i, y; };
    loop = RONDO_HERE, fori_loop(0, 3, body, x, {.name = "rows"});
    return index;
  };
  message = message_of([&] { trace(returns_index, f32()); });
  expect_parts(message, {"a tensor escaped", "'i' of the body of fori_loop 'rows' (" + loop + ")",
                         "the traced function 'main'", "returns it as it is", kReturnIt});
  auto uses_x = [&](Tensor xs) {
    Tensor slice;
    auto step = [&](Tensor c, Tensor x) { return slice = x, std::pair(c + x, c); };
    scan(step, 0.0f, xs);
    return use = RONDO_HERE, slice * 2;
  };
  message = message_of([&] { trace(uses_x, f32({3})); });
  expect_parts(message,
               {"a tensor escaped", "'x' of the body of scan", "through multiply at " + use});
}

TEST(EscapeErrors, FromOneBranchOrRegionIntoAnother) {
  auto branches = [&](Tensor x) {
    Tensor inner;
    return cond(
        x > 1, [&](Tensor y) { return inner = y * 2, y; }, [&](Tensor y) { return y + inner; }, x);
  };
  expect_parts(message_of([&] { trace(branches, f32()); }),
               {"a tensor escaped", "'operand[0]' of the true branch of cond (traces_test.cc:",
                "which is finished", "through multiply at traces_test.cc:", kReturnIt});
  auto from_condition = [&](Tensor x) {
    Tensor inner;
    return while_loop([&](Tensor y) { return inner = y * 2, y < 3; },
                      [&](Tensor y) { return y + inner; }, x);
  };
  expect_parts(message_of([&] { trace(from_condition, f32()); }),
               {"a tensor escaped", "'carry' of the condition of while_loop (traces_test.cc:",
                "through multiply at ", kReturnIt});
}

TEST(EscapeErrors, FromATrace) {
  Tensor leak;
  trace([&](Tensor a, Tensor b) { return leak = a * b, a; }, f32(), f32());
  EXPECT_REFUSED(leak.eval(), "a tensor escaped", "'arg1' of the traced function 'main'",
                 kReturnIt);
  std::string use;
  auto adds = [&](Tensor x) { return use = RONDO_HERE, x + leak; };
  expect_parts(
      message_of([&] { trace(adds, f32()); }),
      {"a tensor escaped", "'arg1' of the traced function 'main'", "at " + use, kReturnIt});
  Tensor from_jit;
  jit([&](Ranch h) { return from_jit = h.slab + 1; })(Ranch{0, 1.0f});
  EXPECT_REFUSED(from_jit.eval(), "a tensor escaped", "'arg0.slab'", "which is finished",
                 kReturnIt);
}

TEST(MixedTraces, TracedFunctionThatReturnsACapturedTensor) {
  std::string use;
  auto outer = [&](Tensor x) {
    use = RONDO_HERE, x = x * 2;
    trace([&](Tensor) { return x; }, f32());
    return x;
  };
  expect_parts(message_of([&] { trace(outer, f32()); }),
               {"mixed traces", "'arg0' of the traced function 'main'", "traced around it",
                "Pass the tensor in as an argument"});
}

TEST(MixedTraces, NameTheLineThatUsesTheOtherTracesTensor) {
  std::string use;
  auto outer = [&](Tensor x) {
    trace([&](Tensor y) { return use = RONDO_HERE, x + y; }, f32());
    return x;
  };
  std::string message = message_of([&] { trace(outer, f32()); });
  expect_parts(message,
               {"mixed traces", "the traced function 'main' uses 'arg0' of the traced function",
                "at " + use, "Pass the tensor in as an argument"});
  auto in_a_loop = [&](Tensor x) {
    auto body = [&](Tensor y) {
      trace([&](Tensor z) { return use = RONDO_HERE, y * z; }, f32());
      return y + 1;
    };
    return while_loop(kBelow3, body, x, {.name = "outer"});
  };
  message = message_of([&] { trace(in_a_loop, f32()); });
  expect_parts(message, {"mixed traces", "'carry' of the body of while_loop 'outer'", "at " + use,
                         "Pass the tensor in"});
}

TEST(MixedTraces, OfTwoThreads) {
  // A trace on another thread uses a parameter of this thread's trace.
  std::string message, use;
  trace(
      [&](Tensor x) {
        std::thread([&] {
          message =
              message_of([&] { trace([&](Tensor y) { return use = RONDO_HERE, x + y; }, f32()); });
        }).join();
        return x;
      },
      f32());
  expect_parts(message, {"mixed traces", "'arg0' of the traced function 'main'", "at " + use,
                         "Pass the tensor in"});
}

TEST(EvalInsideATrace, NamesTheParameterTheLineAndTheRemedies) {
  std::string at;
  const std::vector<std::string> remedies = {"rondo::where or rondo::cond",
                                             "rondo::tap or rondo::print"};
  auto evaluates = [&](Tensor x) {
    Tensor more = x + 1;
    at = RONDO_HERE, more.eval();
    return more;
  };
  std::string message = message_of([&] { trace(evaluates, f32()); });
  expect_parts(message, {"eval inside a trace", "'arg0' of the traced function 'main'",
                         "no value while it is traced", "at " + at, remedies[0], remedies[1]});
  EXPECT_EQ(message.find('?'), std::string::npos) << message;
  expect_parts(message_of([&] { jit(evaluates)(1.0f); }), {"eval inside a trace", "at " + at});

  auto chooses = [&](Ranch h) {
    at = RONDO_HERE;
    if ((h.slab > 1).item<bool>()) return h.slab;  // these two
    return h.step;                                 // lines after `at`
  };
  message = message_of([&] { trace(chooses, Ranch{0.0f, 1.0f}); });
  expect_parts(message, {"eval inside a trace", "'arg0.slab'", "traces_test.cc:", remedies[0]});

  std::string loop;
  auto body = [&](Ranch h) {
    at = RONDO_HERE, h.slab.item<float>();
    return h;
  };
  auto below = [](Ranch h) { return h.step < 3; };
  message = message_of([&] {
    loop = RONDO_HERE, while_loop(below, body, Ranch{0, 1.0f}, {.name = "solve"});
  });
  expect_parts(message,
               {"eval inside a trace", "'slab' of the body of while_loop 'solve' (" + loop + ")",
                "at " + at, remedies[1]});
}

TEST(Places, ScalarsOfATreeAreMadeWhereTheLoopStands) {
  auto counts = [&](Tensor x) {
    auto below = [](Tensor i, Tensor) { return i < 3; };
    auto body = [](Tensor i, Tensor) { return std::tuple(i + 1, 2.5f); };
    return while_loop(below, body, std::tuple(0, x));
  };
  const std::string hlo = to_hlo_text(trace(counts, f32()), {.metadata = true});
  EXPECT_EQ(hlo.find("loops.h"), std::string::npos) << hlo;
  EXPECT_NE(hlo.find("traces_test.cc"), std::string::npos) << hlo;
}

TEST(EmptyFunctions, AreNamedWithTheirPlace) {
  std::string loop;
  const Tensor x(0.5);
  const std::function<Tensor(Tensor)> none;
  const auto below = [](Tensor x) { return x < 3; };
  const auto same = [](Tensor x) { return x; };
  const auto calls_it = [&](Tensor, Tensor x) { return none(x); };
  std::string message =
      message_of([&] { loop = RONDO_HERE, while_loop(below, none, x, {.name = "w"}); });
  expect_parts(message, {"the body of while_loop 'w' is an empty std::function", loop, "Give it"});
  message = message_of([&] { loop = RONDO_HERE, cond(x > 0, none, same, x); });
  expect_parts(message, {"empty std::function", loop});
  // A tensor used further down the call stack counts for the region that makes the call.
  message = message_of([&] { loop = RONDO_HERE, fori_loop(0, 3, calls_it, x); });
  expect_parts(message, {"the body of fori_loop is an empty std::function, or calls one", loop});
}

TEST(EvalInsideATrace, PrintingATracedTensorShowsItsTypeAndIsFine) {
  std::ostringstream out;
  trace([&](Tensor x) { return out << x << " " << x * 2, x; }, f32({2}));
  expect_parts(out.str(), {"f32[2] arg0", "f32[2] multiply"});
}

}  // namespace
}  // namespace rondo
