// The type rules of loops and branches reject operands and regions that public functions never pass
// on, but other code that builds nodes might. Each error says what is wrong, where, and what to do.
#include <string>
#include <utility>
#include <vector>

#include "control_flow/branch.h"
#include "control_flow/branch_lanes.h"
#include "control_flow/call.h"
#include "control_flow/for.h"
#include "control_flow/fori.h"
#include "control_flow/scan.h"
#include "control_flow/tape.h"
#include "control_flow/while.h"
#include "control_flow/while_lanes.h"
#include "ir/region.h"
#include "support/expect.h"

namespace rondo::control_flow {
namespace {

using Types = std::vector<TensorType>;

class TypeRules : public ::testing::Test {
 protected:
  /// A region of these parameters that returns zeros of these types.
  Function region(const std::string& name, const Types& parameters, const Types& results) const {
    const auto returned = [&](std::span<const Tensor>) {
      std::vector<Tensor> out;
      for (const TensorType& type : results) out.push_back(zeros(type));
      return out;
    };
    return ir::trace_closed(name, "a region", parameters, returned, at);
  }
  void expect_refused(const ir::OpDef& op, const Types& operands, ir::Attributes attributes,
                      std::vector<Function> regions, const std::string& what,
                      const std::string& remedy) const {
    ir::Operands given;
    for (const TensorType& type : operands) given.push_back(zeros(type));
    const auto made = [&] { ir::make_many(op, given, attributes, at, regions); };
    testing::expect_error(
        made, {std::string(op.name) + ": " + what + "\n  at pond.cc:12\n  ", "\n  " + remedy});
  }

  const SourceLocation at{"pond.cc", "", 12};
  const TensorType x = f32({2, 3}), s = f32(), i = s32(), p = pred();
};

TEST_F(TypeRules, OfCarriesSayWhatToReturn) {
  ScanAttributes scan;
  scan.carries = scan.xs = 1;
  scan.length = 2;
  ForiAttributes fori;
  WhileAttributes loop;
  fori.carries = loop.carries = 1;
  WhileLanesAttributes lanes;
  lanes.lanes = 3;
  lanes.free = 1;
  const TensorType row = f32({3}), active{DType::kPred, {3}};
  const auto refused = [&](const TensorType& carry, const Types& next, const std::string& what,
                           const std::string& remedy) {
    expect_refused(kScan, {carry, x}, scan, {region("body", {carry, row}, next)}, what, remedy);
    expect_refused(kForiLoop, {i, i, carry}, fori, {region("body", {i, carry}, next)}, what,
                   remedy);
    expect_refused(kWhile, {carry}, loop,
                   {region("go_on", {carry}, {p}), region("body", {carry}, next)}, what, remedy);
    expect_refused(kWhileLanes, {carry}, lanes,
                   {region("go_on", {carry}, {active}), region("body", {active, carry}, next)},
                   what, remedy);
  };
  refused(row, {}, "the body returns 0 values for 1 carries", "Return the next value of each");
  refused(row, {s}, "carry 0: f32[3] goes in, f32[] comes out", "Return each carry with the shape");
  refused(row, {s32({3})}, "carry 0: f32[3] goes in, s32[3] comes out", "Return each carry with");
  expect_refused(kWhileLanes, {x}, lanes,
                 {region("go_on", {x}, {active}), region("body", {active, x}, {x})},
                 "carry 0 is f32[2,3], without 3 lanes in front", "Give it one row for each lane");
}

TEST_F(TypeRules, OfParametersSayWhatToGive) {
  ForiAttributes fori;
  WhileAttributes loop;
  fori.carries = loop.carries = 1;
  const Function go_on = region("go_on", {s}, {p});
  expect_refused(kForiLoop, {i, i, s}, fori, {region("body", {i, s, s}, {s})},
                 "region 'body' has 3 parameters for 2 operands", "Give it one for each operand");
  expect_refused(kForiLoop, {i, i, s}, fori, {region("body", {s, s}, {s})},
                 "parameter 0 of region 'body' is f32[], its operand s32[]", "Give both the same");
  expect_refused(kWhile, {s}, loop, {go_on, region("body", {i}, {s})},
                 "parameter 0 of region 'body' is s32[], its operand f32[]", "Give both the same");
  expect_refused(kWhile, {s}, loop, {go_on}, "needs a condition and a body", "Give two regions");
  expect_refused(kWhile, {}, loop, {go_on, go_on}, "has fewer operands than carries",
                 "Give the init of each carry.");
  expect_refused(kWhile, {s}, loop, {region("go_on", {s}, {i}), region("body", {s}, {s})},
                 "the condition must return one pred[]", "Compare, and combine with rondo::all");
  expect_refused(kForiLoop, {i, i}, fori, {region("body", {i}, {s})},
                 "needs a body, two bounds and the carry", "Give one region");
  expect_refused(kForiLoop, {s, s, s}, fori, {region("body", {s, s}, {s})},
                 "the bounds must be integer scalars of one dtype, they are f32[] and f32[]",
                 "Convert them to one: rondo::convert(x, DType::kS32).");
  ForAttributes counted;
  counted.carries = 1;
  expect_refused(kFor, {i, s, s}, counted, {region("body", {i, s}, {s})},
                 "the bounds must be integer scalars of one dtype, they are s32[] and f32[]",
                 "Convert them to one: rondo::convert(x, DType::kS32).");
  counted.step = 0;
  expect_refused(kFor, {i, i, s}, counted, {region("body", {i, s}, {s})}, "the step is 0",
                 "Give another one.");
  ScanAttributes scan;
  scan.xs = 1;
  scan.length = 2;
  expect_refused(kScan, {}, scan, {region("body", {}, {})}, "needs a body, the carry and the xs",
                 "Give one region");
  expect_refused(kScan, {x}, scan, {region("body", {}, {})},
                 "the body has 0 parameters for 1 operands", "Give it one for each operand");
  expect_refused(kScan, {s}, scan, {region("body", {s}, {})},
                 "xs of f32[] do not have 2 slices along axis 0", "Give xs of the scan's length");
  expect_refused(kScan, {x}, scan, {region("body", {x}, {})},
                 "parameter 0 of the body is f32[2,3] for an operand f32[2,3]",
                 "Give one of xs the type of a slice");
  WhileLanesAttributes lanes;
  lanes.lanes = 2;
  lanes.free = 1;
  const TensorType active{DType::kPred, {2}};
  const Function asked = region("go_on", {x}, {active});
  expect_refused(kWhileLanes, {x}, lanes, {asked, region("body", {p, x}, {x})},
                 "the body takes pred[] first", "Let it take pred[2]: which lanes go on.");
  expect_refused(kWhileLanes, {x}, lanes, {asked, region("body", {active, s}, {x})},
                 "parameter 1 of region 'body' is f32[], its operand f32[2,3]", "Give both");
  expect_refused(kWhileLanes, {x}, lanes, {asked, region("body", {x}, {x})},
                 "region 'body' has 1 parameters for 1 operands", "Give it one");
  expect_refused(kWhileLanes, {x}, lanes,
                 {region("go_on", {x}, {p}), region("body", {active, x}, {x})},
                 "the condition must return a pred for each lane", "Return pred[2].");
  expect_refused(kCheckpointCall, {s, s}, CustomCallAttributes{2, "f"}, {region("f", {s}, {s})},
                 "the function has 1 parameters for 2 operands", "Give it one for each operand");
  expect_refused(kTapeWrite, {x, f32({4}), i}, TapeAttributes{"loop", 0}, {},
                 "a row of f32[4] does not fit a tape of f32[2,3]",
                 "Give one of the tape's dtype, and of its shape without axis 0.");
}

TEST_F(TypeRules, OfBranchesSayWhatToReturn) {
  const ConditionalAttributes one{"pick"};
  BranchLanesAttributes by_lane;
  by_lane.lanes = 2;
  const TensorType chosen{DType::kPred, {2}};
  const Function gives_x = region("first", {x}, {x}), gives_s = region("other", {x}, {s});
  for (const bool lanes : {false, true}) {
    const ir::OpDef& op = lanes ? kBranchLanes : kConditional;
    const ir::Attributes attributes = lanes ? ir::Attributes(by_lane) : ir::Attributes(one);
    const TensorType selector = lanes ? chosen : p;
    expect_refused(op, {}, attributes, {gives_x}, "needs a selector and a branch",
                   "Give the selector as the first operand, and a region for each branch.");
    expect_refused(op, {selector, x}, attributes, {gives_x},
                   "a pred selects one of two branches, there are 1", "Give two, or select by");
    expect_refused(op, {selector, x}, attributes, {gives_x, gives_s},
                   "branch 'other' returns other types than the first",
                   "Return values of the same");
    expect_refused(op, {selector, s}, attributes, {gives_x, gives_x},
                   "parameter 0 of region 'first' is f32[2,3], its operand f32[]", "Give both");
  }
  expect_refused(kConditional, {s, x}, one, {gives_x, gives_x},
                 "the selector must be pred[] or s32[], it is f32[]", "Compare for a pred");
  expect_refused(kBranchLanes, {p, x}, by_lane, {gives_x, gives_x},
                 "the selector is pred[], it must be pred or s32 for 2 lanes",
                 "Give it one element for each lane.");
  expect_refused(kBranchLanes, {chosen, x}, by_lane, {gives_s, gives_s},
                 "a result is f32[], without 2 lanes in front", "Return one row for each lane.");
}

}  // namespace
}  // namespace rondo::control_flow
