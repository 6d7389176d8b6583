// Examples of the reference: running programs, observers, texts, devices, files.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "example.h"
#include "rondo/dlpack.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  // First, since it prints its lines.
  example("to_text, parse_text", [] {
    Function program = trace(
        [](Tensor x) {
          return fori_loop(0, 3, [](Tensor, Tensor y) { return y * y; }, x, {.name = "squares"});
        },
        f32());
    std::cout << to_text(program);
    Function read = parse_text(to_text(program, {.full = true}));  // full: every constant
    std::cout << compile(read).run({Literal::scalar(2.0f)})[0] << "\n";
    std::cout << to_text(constant({1.0f, 2.0f}) + 1);  // of a lazy tensor
  });
  example("compile", [] {
    Function program =
        trace([](Tensor a, Tensor b) { return matmul(a, b); }, f32({2, 2}), f32({2}));
    Executable executable = compile(program, {.executor = Executor::kCompiled});
    std::vector<Literal> results = executable.run(
        {Literal::from({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), Literal::from({5.0f, 6.0f}, {2})});
    std::cout << results[0] << "\n";
  });
  example("print", [] {
    Tensor end = fori_loop(
        0, 3, [](Tensor, Tensor x) { return print(x * 2, "now {:.1f}"); }, Tensor(1.0f));
    (void)end.eval();
  });
  example("tap", [] {
    auto f = jit([](Tensor x) { return tap(x * x, "square") + 1; },
                 {.on_tap = [](std::string_view name, const Literal& value) {
                   std::cout << name << ": " << value << "\n";
                 }});
    std::cout << f(3.0f) << "\n";
  });
  example("progress", [] {
    RunScope scope(
        {.on_progress = [](const Progress& p) { std::cout << p.trip << " of " << *p.of << "\n"; }});
    Tensor n = progress(Tensor(2), 5);
    (void)n.eval();
  });
  example("optimization_barrier", [] {
    auto f = [](Tensor x) { return exp(x) + exp(optimization_barrier(x)); };
    Executable executable = compile(trace(f, f32()));
    std::cout << executable.function().stats().ops["exp"] << " calls of exp\n";  // not merged
    std::cout << f(0.0f) << "\n";
  });
  example("run_checks", [] {
    CheckReport report = run_checks(R"(
      func.func @main() {
        %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %y = stablehlo.add %x, %x : tensor<2xf32>
        check.expect_eq_const %y, dense<[2.0, 4.0]> : tensor<2xf32>
        return
      })");
    std::cout << report.passed << " passed, " << report.failed << " failed\n";
  });
  example("register_call, custom_call", [] {
    register_call("cube", {.run =
                               [](const Call& call) {
                                 auto x = call.operand<double>(0);
                                 auto y = call.result<double>(0);
                                 for (std::size_t i = 0; i < x.size(); i++)
                                   y[i] = x[i] * x[i] * x[i];
                               },
                           .jvp =
                               [](const CallTangents& t) {
                                 Tensor x = t.operands[0];
                                 return std::vector<Tensor>{3 * x * x * t.tangents[0]};
                               }});
    auto cube = [](Tensor x) { return custom_call("cube", {x}, {x.type()})[0]; };
    std::cout << cube(constant({1.0, 2.0})) << " " << grad(cube)(2.0) << "\n";
  });

  example("to_hlo_text, parse_hlo_text", [] {
    Function program = trace([](Tensor x) { return x * x; }, f32({2}));
    std::cout << to_hlo_text(program);
    std::cout << function_of(parse_hlo_text(to_hlo_text(program)))(constant({3.0f, 4.0f}))[0];
    std::cout << "\n";
  });
  example("to_stablehlo_text, parse_stablehlo_text", [] {
    Function program = trace([](Tensor x) { return x * x; }, f32({2}));
    std::cout << to_stablehlo_text(program);
    std::cout << parse_stablehlo_text(to_stablehlo_text(program)).params()[0] << "\n";
  });
  example("parse_program, load_program", [] {
    std::string text = to_stablehlo_text(trace([](Tensor x) { return sin(x); }, f64()));
    std::cout << parse_program(text).params()[0] << "\n";  // the content tells the format
    std::ofstream("sine.mlir") << text;
    auto sine = function_of(load_program("sine.mlir"));
    std::cout << grad([&](Tensor x) { return sine(x)[0]; })(0.0) << "\n";
  });
  example("to_dot, to_html", [] {
    Function program = trace([](Tensor x) { return x * x; }, f32());
    std::string graph = to_dot(program);  // dot -Tsvg draws it
    std::cout << graph.substr(0, graph.find('{')) << "\n";
    std::string page = to_html(program, {.title = "A square"});
    std::cout << page.substr(0, page.find('>') + 1) << "\n";
  });
  example("to_c_source", [] {
    Function program = trace([](Tensor x) { return x * x + 1; }, f32());
    CSource c = to_c_source(program, {.name = "f"});
    std::ofstream("f.c") << c.source;
    std::ofstream("f.h") << c.header;
    std::cout << c.header.substr(c.header.find("void f(")).substr(0, 35) << "\n";
  });

  example("load_csv, save_csv", [] {
    save_csv("points.csv", Literal::from({1.0, 2.5, 3.0, 4.0}, {2, 2}), {.header = "x,y"});
    std::cout << std::ifstream("points.csv").rdbuf();
    std::cout << load_csv("points.csv", {.skip_lines = 1}) << "\n";
  });
  example("to_dlpack, to_dlpack_versioned, from_dlpack", [] {
    Literal x = Literal::from({1.0f, 2.0f}, {2});
    DLManagedTensor* managed = to_dlpack(x);            // for NumPy, PyTorch, ...
    Literal same = from_dlpack(managed);                // takes ownership; no copy
    Literal too = from_dlpack(to_dlpack_versioned(x));  // the struct of DLPack 1
    std::cout << same << (same.bytes() == too.bytes() ? " in the same memory\n" : "\n");
  });

  example("pjrt::load_plugin, pjrt::disk_cache", [] {
    pjrt::Device device;  // none: the built-in executors
    try {
      device = pjrt::Client(pjrt::load_plugin()).devices()[0];
    } catch (const ExecutionError& error) {
      // No plugin is installed: error.what() has the command that installs one.
    }
    auto f = jit([](Tensor x) { return sum(x * x); }, {.device = device});
    std::cout << f(constant({3.0f, 4.0f})).item<float>() << "\n";
    std::cout << pjrt::disk_cache().failures << " programs could not be kept on disk\n";
  });
  example("pjrt::find_plugins", [] {
    ::setenv("RONDO_PJRT_PLUGIN", "/opt/first.so:/opt/second.so", 1);
    for (const std::string& path : pjrt::find_plugins()) {
      if (path.starts_with("/opt/")) std::cout << path << "\n";  // then those of pip packages
    }
  });
  example("shard", [] {
    Mesh mesh({{"data", 4}});  // names and sizes; devices are given to jit
    auto f = [&](Tensor x) { return sum(shard(x, mesh, {"data", std::nullopt}), 1); };
    std::cout << f(ones(f32({8, 2}))) << "\n";  // on one device: no effect
    std::string text = to_stablehlo_text(trace(f, f32({8, 2})));
    std::size_t at = text.find("sdy.mesh");
    std::cout << text.substr(at, text.find('\n', at) - at) << "\n";
  });
}
