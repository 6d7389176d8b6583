#include "executor/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "executor/compiled.h"
#include "executor/for_loops.h"
#include "executor/lowering.h"
#include "native/target.h"
#include "rondo/export.h"

namespace rondo::executor {

namespace {

class ExecutorBackend final : public ir::Backend {
 public:
  ExecutorBackend(std::string_view name, bool wants_native)
      : name_(name), wants_native_(wants_native) {}
  std::string_view name() const override { return name_; }
  std::string why_not(const Function& function) const override { return why_not_lowered(function); }
  std::optional<Function> expanded(const Function& function) const override {
    return for_loops(function);
  }
  std::shared_ptr<const ir::Prepared> prepare(const Function& function,
                                              const CompileOptions& options,
                                              const ir::Form& form) const override {
    const std::optional<Function> other =
        form.has_limits ? with_loops_outermost(function) : std::nullopt;
    return std::make_shared<Compiled>(other ? *other : function, options, wants_native_, form);
  }

 private:
  std::string_view name_;
  bool wants_native_;
};

}  // namespace

const ir::Backend& bytecode_backend() {
  static const ExecutorBackend backend("bytecode", false);
  return backend;
}

const ir::Backend& compiled_backend() {
  static const ExecutorBackend backend("native", true);
  return native_code::available_target() == nullptr ? bytecode_backend() : backend;
}

namespace {

[[maybe_unused]] const bool registered = [] {
  ir::register_executor(Executor::kBytecode, bytecode_backend);
  ir::register_executor(Executor::kCompiled, compiled_backend);
  return true;
}();

}  // namespace

}  // namespace rondo::executor

/// Linkers extract this file from an archive because of this name, which rondo::compiler refers to
/// (cmake/RondoLibrary.cmake).
extern "C" RONDO_API const char rondo_compiler;
extern "C" const char rondo_compiler = 1;
