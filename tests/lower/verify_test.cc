// Programs that no backend may get.
#include "lower/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lower/builder.h"

namespace rondo::lower {
namespace {

/// x of 10 f32 doubled into y by lanes, then halved by a while of 3 trips as long as x[0] < 100; an
/// if selects between two sums of a for.
Program sound() {
  Builder b;
  const Value x = b.buffer({Storage::kArgument, 0, 0, 40});
  const Value y = b.buffer({Storage::kResult, 0, 0, 40});
  const Value spare = b.buffer({Storage::kArena, 0, 0, 40});
  const std::uint32_t lanes = b.begin_lanes(b.index(10));
  const Value lane = b.program().lanes[lanes].index;
  const Value element = b.load(Type::kF32, {x, 0, {{lane, 4}}});
  b.store(b.add(element, element), {y, 0, {{lane, 4}}});
  const Value sum = b.reduce(Opcode::kAdd, b.number(Type::kF32, 0), element);
  b.end_lanes();
  const std::vector<Value> init{b.index(0), x, spare};
  const std::uint32_t loop = b.begin_while(init);
  const std::vector<Carry> carries = b.program().whiles[loop].carries;
  b.test(b.less(carries[0].param, b.index(3)));
  const Value last_two = b.view({carries[1].param, 32, {}}, 8);
  const Value first = b.load(Type::kF32, {last_two, 4, {}});
  b.store(b.multiply(first, b.number(Type::kF32, 0.5)), {carries[2].param, 36, {}});
  b.copy({carries[1].param, 0, {}}, {carries[2].param, 0, {}}, 36);
  const std::vector<Value> next{b.add(carries[0].param, b.index(1)), carries[2].param,
                                carries[1].param};
  b.end_while(next);
  const Value chosen = b.less(sum, b.number(Type::kF32, 100));
  b.begin_if(chosen);
  const std::vector<Value> none{b.number(Type::kF32, 0)};
  const std::uint32_t count = b.begin_for(b.index(0), b.index(10), 1, none);
  const Value index = b.program().fors[count].index;
  const Value part = b.load(Type::kF32, {y, 0, {{index, 4}}});
  const std::vector<Value> total{b.add(b.program().fors[count].carries[0].param, part)};
  b.end_for(total);
  const std::vector<Value> then{b.program().fors[count].carries[0].result};
  b.begin_else();
  const std::uint32_t tape = b.tape({4, "w"});
  b.set_tape({tape});
  const Value row = b.tape_row(tape, b.index(0), true, kNoLoop);
  b.store(sum, {row, 0, {}});
  const std::vector<Value> otherwise{sum};
  const Value result = b.end_if(then, otherwise)[0];
  b.store(result, {y, 0, {}});
  Program program = b.finish();
  program.arena_bytes = 64;
  return program;
}

Op& op_of(Program& program, Opcode code) {
  for (Op& op : program.code) {
    if (op.code == code) return op;
  }
  throw InternalError("there is no such op");
}
std::size_t place_of(Program& program, Opcode code) {
  return static_cast<std::size_t>(&op_of(program, code) - program.code.data());
}

TEST(Verify, ASoundProgramHasNoFault) { EXPECT_EQ(verify(sound()), ""); }

TEST(Verify, MalformedProgramsAreTold) {
  struct Case {
    const char* says;
    std::function<void(Program&)> spoil;
  };
  const auto erase = [](Program& p, Opcode code) {
    p.code.erase(p.code.begin() + static_cast<std::ptrdiff_t>(place_of(p, code)));
  };
  const std::vector<Case> cases{
      // Nesting.
      {"is not closed", [](Program& p) { p.code.resize(p.code.size() - 2); }},
      {"closes what is not open",
       [](Program& p) { p.code.push_back(Op(op_of(p, Opcode::kEndLanes))); }},
      {"has no test", [&](Program& p) { erase(p, Opcode::kTest); }},
      {"has no else", [&](Program& p) { erase(p, Opcode::kElse); }},
      {"a second one",
       [](Program& p) {
         const std::size_t at = place_of(p, Opcode::kTest);
         p.code.insert(p.code.begin() + static_cast<std::ptrdiff_t>(at), Op(p.code[at]));
       }},
      {"an else outside its if",
       [](Program& p) {
         std::swap(p.code[place_of(p, Opcode::kEndFor)], p.code[place_of(p, Opcode::kElse)]);
       }},
      {"has no op", [](Program& p) { p.fors.push_back(p.fors[0]); }},
      {"begins twice", [](Program& p) { p.code.push_back(Op(op_of(p, Opcode::kFor))); }},
      {"depend on one another", [](Program& p) { p.fors[0].independent = true; }},
      {"there is no while 7", [](Program& p) { op_of(p, Opcode::kRepeat).bits = 7; }},
      {"lanes in lanes",
       [](Program& p) {
         p.lanes.push_back(p.lanes[0]);
         Op again = op_of(p, Opcode::kLanes);
         again.bits = 1;
         p.code.insert(
             p.code.begin() + static_cast<std::ptrdiff_t>(place_of(p, Opcode::kLanes)) + 1, again);
       }},
      {"is inside lanes",
       [](Program& p) {
         const Op copy = op_of(p, Opcode::kCopy);
         p.code.insert(
             p.code.begin() + static_cast<std::ptrdiff_t>(place_of(p, Opcode::kLanes)) + 1, copy);
       }},
      // Values.
      {"before it is defined",
       [](Program& p) { op_of(p, Opcode::kAdd).a = p.lanes[0].reductions[0].result; }},
      {"outside the construct",
       [](Program& p) { p.ifs[0].results[0].otherwise = p.fors[0].index; }},
      {"outside the construct",
       [](Program& p) { op_of(p, Opcode::kLess).a = p.lanes[0].reductions[0].value; }},
      {"defined twice",
       [](Program& p) { op_of(p, Opcode::kMultiply).result = op_of(p, Opcode::kAdd).result; }},
      {"there is no value %999", [](Program& p) { op_of(p, Opcode::kAdd).b = 999; }},
      {"there is no value %0", [](Program& p) { op_of(p, Opcode::kMultiply).b = kNone; }},
      {"not the predicate", [](Program& p) { op_of(p, Opcode::kTest).a = p.ifs[0].predicate; }},
      // Types.
      {"is s64, not f32",
       [](Program& p) { op_of(p, Opcode::kMultiply).a = p.whiles[0].carries[0].param; }},
      {"the result", [](Program& p) { p.types[op_of(p, Opcode::kMultiply).result] = Type::kF64; }},
      {"there is none of f32",
       [](Program& p) { op_of(p, Opcode::kMultiply).code = Opcode::kShiftLeft; }},
      {"is f32, not s64",
       [](Program& p) { p.whiles[0].carries[0].next = op_of(p, Opcode::kMultiply).result; }},
      {"not pred", [](Program& p) { p.ifs[0].predicate = op_of(p, Opcode::kBase).result; }},
      {"arithmetic on pointers",
       [](Program& p) { op_of(p, Opcode::kMultiply).type = Type::kPointer; }},
      {"are not stored in memory",
       [](Program& p) { op_of(p, Opcode::kLoad).type = Type::kPointer; }},
      {"there is no view 7", [](Program& p) { op_of(p, Opcode::kView).bits = 7; }},
      {"bytes 32 to 44 of a buffer of 40 bytes", [](Program& p) { p.views[0].bytes = 12; }},
      {"bytes 4 to 8 of a buffer of 4 bytes", [](Program& p) { p.views[0].bytes = 4; }},
      {"reduces nothing", [](Program& p) { p.lanes[0].reductions[0].combine = Opcode::kSubtract; }},
      {"not ptr",
       [](Program& p) { p.addresses[op_of(p, Opcode::kLoad).bits].base = p.lanes[0].index; }},
      {"rows of tapes",
       [](Program& p) {
         p.tapes.push_back({8, "v"});
         p.tape_sets[0].from = 1;
       }},
      {"there is no tape 3",
       [](Program& p) {
         op_of(p, Opcode::kTapeWrite).bits = kNoLoop * (std::uint64_t{1} << 32) + 3;
       }},
      // Bounds.
      {"bytes 0 to 44 of a buffer of 40",
       [](Program& p) {
         for (Op& op : p.code) {
           if (op.code == Opcode::kConstant && op.result == p.lanes[0].count) op.bits = 11;
         }
         p.lanes[0].known_count = 11;
       }},
      {"bytes 0 to 44", [](Program& p) { p.copies[0].bytes = 44; }},
      {"bytes -4 to", [](Program& p) { p.addresses[p.copies[0].from].offset = -4; }},
      {"leaves the arena", [](Program& p) { p.arena_bytes = 39; }},
      {"fewer bytes", [](Program& p) { p.buffers[2].bytes = 48; }},
      {"is not 11", [](Program& p) { p.lanes[0].known_count = 11; }},
  };
  for (const Case& c : cases) {
    Program program = sound();
    c.spoil(program);
    const std::string fault = verify(program);
    EXPECT_NE(fault.find(c.says), std::string::npos) << c.says << "\n" << fault;
  }
}

}  // namespace
}  // namespace rondo::lower
