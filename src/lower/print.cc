#include "lower/print.h"

#include "fmt/format.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    for (std::size_t i = 0; i < program_.buffers.size(); i++) buffer(i);
    for (std::size_t i = 0; i < program_.tapes.size(); i++)
      line("tape {}: rows of {} bytes", i, program_.tapes[i].row_bytes);
    for (const Op& op : program_.code) print(op);
    line("arena {} bytes", program_.arena_bytes);
    return std::move(out_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    out_.append(2 * depth_, ' ');
    out_ += fmt::format(format, std::forward<A>(arguments)...);
    out_ += '\n';
  }

  void buffer(std::size_t i) {
    static constexpr const char* kStorages[] = {"argument", "result", "constant", "arena", "frame"};
    const Buffer& buffer = program_.buffers[i];
    const char* storage = kStorages[static_cast<int>(buffer.storage)];
    if (buffer.storage == Storage::kArena)
      line("buffer {}: {} bytes at {} of the arena", i, buffer.bytes, buffer.offset);
    else
      line("buffer {}: {} bytes, {} {}", i, buffer.bytes, storage, buffer.index);
  }

  std::string address(std::uint64_t index) const {
    const Address& at = program_.addresses[index];
    std::string text = fmt::format("[%{}", at.base);
    if (at.offset != 0) text += fmt::format(" + {}", at.offset);
    for (const Address::Term& term : at.terms)
      text += term.stride == 1 ? fmt::format(" + %{}", term.index)
                               : fmt::format(" + %{} * {}", term.index, term.stride);
    return text + "]";
  }

  static std::string constant(Type type, std::uint64_t bits) {
    return for_type(type, [&]<class T>() -> std::string {
      if constexpr (is_half<T>)
        return fmt::format("{}", static_cast<float>(from_bits<T>(bits)));
      else if constexpr (is_pred_type<T>)
        return bits ? "true" : "false";
      else if constexpr (is_integer_type<T>)
        return fmt::format(
            "{}", static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(
                      from_bits<T>(bits)));
      else
        return fmt::format("{}", from_bits<T>(bits));
    });
  }

  std::string carries(const std::vector<Carry>& carries) const {
    std::string text;
    for (const Carry& carry : carries)
      text += fmt::format(", %{}: {} = %{}", carry.param, type_name(carry.type), carry.init);
    return text;
  }
  void end(const std::vector<Carry>& carries) {
    std::string text;
    for (const Carry& carry : carries)
      text += fmt::format("{}%{}", text.empty() ? " next " : ", ", carry.next);
    for (std::size_t i = 0; i < carries.size(); i++)
      text += fmt::format("{}%{}", i == 0 ? " gives " : ", ", carries[i].result);
    depth_--;
    line("end{}", text);
  }

  std::string loop_name(std::uint32_t loop) const {
    if (loop == kNoLoop) return {};
    const LoopInfo& info = program_.loops[loop];
    return info.name.empty() ? fmt::format(" (loop {})", loop)
                             : fmt::format(" (loop {} '{}')", loop, info.name);
  }

  void print(const Op& op) { op.code < Opcode::kFor ? print_step(op) : print_control(op); }

  void print_step(const Op& op) {
    const OpcodeInfo& what = info(op.code);
    switch (op.code) {
      case Opcode::kConstant:
        return line("%{} = {} {}", op.result, type_name(op.type), constant(op.type, op.bits));
      case Opcode::kBase:
        return line("%{} = buffer {}", op.result, op.bits);
      case Opcode::kView: {
        const View& view = program_.views[op.bits];
        return line("%{} = view of {} bytes at {}", op.result, view.bytes, address(view.address));
      }
      case Opcode::kLoad:
        return line("%{} = load {} {}", op.result, type_name(op.type), address(op.bits));
      case Opcode::kStore:
        return line("store {} %{} to {}", type_name(op.type), op.a, address(op.bits));
      case Opcode::kCopy: {
        const Copy& copy = program_.copies[op.bits];
        return line("copy {} bytes from {} to {}", copy.bytes, address(copy.from),
                    address(copy.to));
      }
      case Opcode::kCall: {
        std::string text;
        for (const Value pointer : program_.calls[op.bits].pointers)
          text += fmt::format("{}%{}", text.empty() ? "" : ", ", pointer);
        return line("call {}({})", program_.calls[op.bits].name, text);
      }
      case Opcode::kTapeRead:
      case Opcode::kTapeWrite:
        return line("%{} = {} {}, row %{}", op.result, what.name, op.bits & 0xffffffffu, op.a);
      case Opcode::kTapeSet: {
        const TapeSet& set = program_.tape_sets[op.bits];
        if (set.from == kNoTape)
          return line("tape {} {}", set.to, set.releases ? "ends" : "begins");
        return line("tape {} = tape {}", set.to, set.from);
      }
      default:
        break;
    }
    std::string text = fmt::format("%{} = {} {}", op.result, what.name, type_name(op.type));
    if (what.kind == OpcodeKind::kConvert || what.kind == OpcodeKind::kCompare)
      text += fmt::format(" of {}", type_name(op.from));
    for (const Value operand : {op.a, op.b, op.c}) {
      if (operand != kNone) text += fmt::format(" %{}", operand);
    }
    line("{}", text);
  }

  void print_control(const Op& op) {
    switch (op.code) {
      case Opcode::kFor: {
        const For& loop = program_.fors[op.bits];
        line("for{} %{} = %{} to %{} step {}{}{}", loop.independent ? " (independent)" : "",
             loop.index, loop.lower, loop.upper, loop.step, carries(loop.carries),
             loop_name(loop.loop));
        depth_++;
        return;
      }
      case Opcode::kEndFor:
        return end(program_.fors[op.bits].carries);
      case Opcode::kLanes: {
        const Lanes& lanes = program_.lanes[op.bits];
        line("lanes %{} of %{}", lanes.index, lanes.count);
        depth_++;
        return;
      }
      case Opcode::kEndLanes:
        depth_--;
        line("end");
        for (const Lanes::Reduction& reduction : program_.lanes[op.bits].reductions)
          line("%{} = reduce {} {} of %{} from %{}", reduction.result, info(reduction.combine).name,
               type_name(reduction.type), reduction.value, reduction.init);
        return;
      case Opcode::kRepeat: {
        const While& loop = program_.whiles[op.bits];
        const std::string after =
            loop.trips == kNone ? std::string() : fmt::format(" after %{} trips", loop.trips);
        line("while{}{}{}{}", loop.predicated ? " (predicated)" : "", carries(loop.carries),
             loop_name(loop.loop), after);
        depth_++;
        return;
      }
      case Opcode::kTest:
        return line("test %{}", op.a);
      case Opcode::kEndRepeat:
        return end(program_.whiles[op.bits].carries);
      case Opcode::kIf:
        line("if %{}", program_.ifs[op.bits].predicate);
        depth_++;
        return;
      case Opcode::kElse:
        depth_--;
        line("else");
        depth_++;
        return;
      default:  // kEndIf
        depth_--;
        line("end");
        for (const If::Result& result : program_.ifs[op.bits].results)
          line("%{} = either %{}, %{}", result.result, result.then, result.otherwise);
    }
  }

  const Program& program_;
  std::string out_;
  std::size_t depth_ = 1;
};

}  // namespace

std::string to_text(const Program& program) { return Printer(program).run(); }

}  // namespace rondo::lower
