// Every message in docs/errors.md is what its program throws: each block of C++ there is repeated
// here, and the block of text after it is the message, except for the names and lines of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

struct House {
  Tensor step, slab, tank;
};
struct Filter {
  Tensor mean, gain;
};

const std::map<std::string, std::function<void()>>& programs() {
  static const std::map<std::string, std::function<void()>> all = {
      {"dtypes that differ",
       [] {
         Tensor x = constant({1.0f, 2.0f}), y = constant({1.0, 2.0});
         Tensor z = x + y;
       }},
      {"an init of a double",
       [] {
         auto filter = [](Tensor x) {
           return fori_loop(
               0, 9,
               [&](Tensor, Filter f) {
                 return Filter{f.mean + f.gain * (x - f.mean), f.gain};
               },
               Filter{0.0f, 0.5});
         };
         jit(filter)(1.0f);
       }},
      {"a carry that changes",
       [] {
         auto body = [](House h) {
           return House{h.step + 1, convert(h.slab, DType::kF64), reshape(h.tank, {1})};
         };
         House end = while_loop([](House h) { return h.step < 20; }, body, House{0, 20.0f, 70.0f},
                                {.name = "house"});
       }},
      {"an inexact scalar",
       [] {
         Tensor n = constant({1, 2});
         Tensor x = n + 0.5;
       }},
      {"a quotient of integers",
       [] {
         Tensor n = constant({7, 8});
         Tensor half = n / 2.0;
       }},
      {"shapes that do not broadcast",
       [] {
         Tensor x = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
         Tensor centred = x - mean(x, {1});
       }},
      {"an axis out of range",
       [] {
         Tensor x = constant({1.0f, 2.0f});
         Tensor y = sum(x, {1});
       }},
      {"an index out of range",
       [] {
         Tensor x = constant({1.0f, 2.0f});
         Tensor y = x[2];
       }},
      {"a reshape of other elements",
       [] {
         Tensor x = constant({1.0f, 2.0f});
         Tensor y = reshape(x, {3});
       }},
      {"a tensor that escaped",
       [] {
         Tensor leaked;
         auto body = [&](Tensor x) {
           leaked = x * 2;
           return x + 1;
         };
         Tensor end = while_loop([](Tensor x) { return x < 3; }, body, 1.0f, {.name = "leaky"});
         leaked.eval();
       }},
      {"eval inside a trace",
       [] {
         auto f = [](Tensor x) { return x.item<float>() > 0 ? x : -x; };
         jit(f)(1.0f);
       }},
      {"mixed traces",
       [] {
         auto outer = [](Tensor x) {
           return Tensor(trace([&](Tensor y) { return x * y; }, f32()).params().size());
         };
         jit(outer)(1.0f);
       }},
      {"lengths that disagree",
       [] {
         auto step = [](Tensor c, std::pair<Tensor, Tensor> x) {
           return std::pair(c + x.first, x.second);
         };
         auto all = scan(step, 0, std::pair(arange(3), arange(4)));
       }},
      {"branches that differ",
       [] {
         Tensor x = constant({1.0f, 2.0f});
         Tensor y = cond(
             x[0] > 0, [&] { return x; }, [&] { return x[1]; });
       }},
      {"an empty tensor",
       [] {
         House h;
         jit([](House h) { return h.slab + h.tank; })(h);
       }},
      {"a function that was moved from",
       [] {
         auto f = jit([](Tensor x) { return x * 2; });
         auto g = std::move(f);
         f(1.0f);
       }},
      {"too many iterations",
       [] {
         auto count = [](Tensor n) {
           return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, 0,
                             {.name = "count"});
         };
         jit(count).with({.max_iterations = 3})(10);
       }},
      {"an index that is clamped",
       [] {
         auto row = [](Tensor x, Tensor i) { return x[i]; };
         jit(row).with({.check_bounds = true})(constant({1.0f, 2.0f}), 2);
       }},
      {"a promise that was broken",
       [] {
         auto count = [](Tensor n) {
           return while_loop([&](Tensor i) { return i < n; }, [](Tensor i) { return i + 1; }, 0,
                             {.max_trip_count = 3, .name = "count"});
         };
         jit(count)(10);
       }},
      {"arguments of another type",
       [] {
         Executable run = compile(trace([](Tensor x) { return x * 2; }, f32({2})));
         run.run({Literal::scalar(1.0f)});
       }},
  };
  return all;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Without white space.
std::string squeezed(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// With the same location for all: `house.cc:1`.
std::string without_places(const std::string& text) {
  return std::regex_replace(text, std::regex("[a-z_]+\\.cc:[0-9]+"), "house.cc:1");
}

struct DocumentedError {
  std::string program, message;
};

/// The pairs of blocks in docs/errors.md, `cpp` and then `text`.
std::vector<DocumentedError> documented_errors() {
  const std::string text = file_text(std::string(RONDO_SOURCE_DIR) + "/docs/errors.md");
  std::vector<DocumentedError> found;
  const std::string open_cpp = "```cpp\n", open_text = "```text\n", close = "\n```";
  for (std::size_t at = text.find(open_cpp); at != std::string::npos;
       at = text.find(open_cpp, at + 1)) {
    const std::size_t program = at + open_cpp.size(), program_end = text.find(close, program);
    const std::size_t message = text.find(open_text, program_end) + open_text.size();
    found.push_back({text.substr(program, program_end - program),
                     text.substr(message, text.find(close, message) - message)});
  }
  return found;
}

TEST(DocumentedErrors, AreWhatTheirProgramsThrow) {
  const std::string source =
      squeezed(file_text(std::string(RONDO_SOURCE_DIR) + "/tests/errors/documented_test.cc"));
  std::vector<std::string> messages;
  for (const auto& [name, program] : programs()) {
    try {
      program();
      ADD_FAILURE() << name << ": nothing was thrown";
    } catch (const Error& error) {
      messages.push_back(without_places(error.what()));
    }
  }
  const std::vector<DocumentedError> documented = documented_errors();
  EXPECT_EQ(documented.size(), programs().size());
  for (const DocumentedError& error : documented) {
    EXPECT_NE(source.find(squeezed(error.program)), std::string::npos)
        << "docs/errors.md has a program that is not tested here:\n"
        << error.program;
    const std::string wanted = without_places(error.message);
    EXPECT_NE(std::find(messages.begin(), messages.end(), wanted), messages.end())
        << "docs/errors.md has a message that no program throws:\n"
        << wanted;
  }
  for (const std::string& message : messages) {
    EXPECT_EQ(std::count_if(documented.begin(), documented.end(),
                            [&](const DocumentedError& error) {
                              return without_places(error.message) == message;
                            }),
              1)
        << "docs/errors.md does not have this message:\n"
        << message;
  }
}

TEST(DocumentedErrors, HaveARemedy) {
  // What is wrong, the location, what to do: at least three lines, or two if there is no location.
  for (const DocumentedError& error : documented_errors())
    EXPECT_GE(std::count(error.message.begin(), error.message.end(), '\n'), 1) << error.message;
}

}  // namespace
}  // namespace rondo
