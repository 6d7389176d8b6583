#include "interpreter/backend.h"

#include "absl/cleanup/cleanup.h"
#include "interpreter/machine.h"
#include "interpreter/program.h"
#include "ir/function_data.h"

namespace rondo::interpreter {

namespace {

class PreparedBundle final : public ir::Prepared {
 public:
  explicit PreparedBundle(const Function& function)
      : function_(function), bundle_(build_bundle(function)) {}

  std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                           RunStats& stats) const override {
    Machine machine(*bundle_, options);
    const absl::Cleanup fill_in_profile = [&] {
      if (options.profile) *options.profile = machine.profile();
    };
    try {
      std::vector<Literal> results = machine.run(arguments);
      stats = machine.stats();
      return results;
    } catch (...) {
      stats = machine.stats();
      throw;
    }
  }

  std::string text() const override { return function_.str(); }

  void count_held(HeldBytes& held) const override {
    if (held.shared(this, sizeof(*this)) && held.shared(bundle_)) bundle_->count_held(held);
  }

 private:
  Function function_;
  std::shared_ptr<const Bundle> bundle_;
};

class ReferenceBackend final : public ir::Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::shared_ptr<const ir::Prepared> prepare(const Function& function, const CompileOptions&,
                                              const ir::Form&) const override {
    return std::make_shared<PreparedBundle>(function);
  }
};

}  // namespace

const ir::Backend& reference_backend() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace rondo::interpreter
