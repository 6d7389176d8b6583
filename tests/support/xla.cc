#include "support/xla.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string_view>

#include "rondo/execute.h"
#include "rondo/text.h"
#include "support/xla_plugin.h"

extern char** environ;

namespace rondo::testing {

namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// The text after `"key": ` in a flat JSON object as Python's json writes it: a string without its
/// quotes and escapes, or the letters and digits of anything else. Nullopt if there is no such key.
std::optional<std::string> member(const std::string& object, const std::string& key) {
  const std::size_t found = object.find(json_string(key) + ": ");
  if (found == std::string::npos) return std::nullopt;
  std::size_t at = found + key.size() + 4;
  std::string value;
  if (object[at] != '"') {
    while (at < object.size() && object[at] != ',' && object[at] != '}') value += object[at++];
    return value;
  }
  for (at++; at < object.size() && object[at] != '"'; at++) {
    if (object[at] != '\\' || at + 1 == object.size()) {
      value += object[at];
    } else if (const char c = object[++at]; c == 'n') {
      value += '\n';
    } else if (c == 't') {
      value += '\t';
    } else if (c == 'u') {
      value += '?';  // only control characters and non-ASCII text
      at += 4;
    } else {
      value += c;
    }
  }
  return value;
}

std::filesystem::path make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "rondo-xla-XXXXXX").string();
  if (!mkdtemp(name.data())) throw XlaError(name + ": " + std::strerror(errno));
  return name;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr std::string_view kRemedy =
    "\nscripts/oracle installs XLA; or set RONDO_XLA_PYTHON to a Python that has the packages of "
    "tests/xla/requirements.txt.";

}  // namespace

XlaOracle& XlaOracle::shared() {
  static XlaOracle oracle;
  return oracle;
}

XlaOracle::XlaOracle() : folder_(make_folder()) {
  try {
    start();
    const std::string greeting = receive();
    if (member(greeting, "ok") == "true") return;
    unavailable_ = member(greeting, "message").value_or(greeting);
  } catch (const XlaError& error) {
    unavailable_ = error.what();
  }
  unavailable_ += kRemedy;
  stop();
}

XlaOracle::~XlaOracle() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool XlaOracle::connect() {
  const std::string path = environment("RONDO_XLA_SOCKET");
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return false;
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket_);
    socket_ = -1;
    return false;
  }
  send("hello\n");
  return true;
}

void XlaOracle::start() {
  if (connect()) return;
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw XlaError(std::string("socketpair: ") + std::strerror(errno));
  }
  socket_ = sockets[0];
  std::string python = environment("RONDO_XLA_PYTHON");
  if (python.empty()) python = "python3";
  std::string script = std::string(RONDO_SOURCE_DIR) + "/tests/xla/oracle.py";
  const std::array<char*, 3> command{python.data(), script.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], 0);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], 1);
  const int error =
      posix_spawnp(&process_, python.c_str(), &actions, nullptr, command.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  if (error != 0) {
    process_ = -1;
    throw XlaError(python + ": " + std::strerror(error));
  }
}

void XlaOracle::stop() noexcept {
  if (socket_ >= 0) close(socket_);  // it ends when its input does
  socket_ = -1;
  if (process_ >= 0) waitpid(process_, nullptr, 0);
  process_ = -1;
}

void XlaOracle::send(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0)
      throw XlaError(std::string("tests/xla/oracle.py has ended: ") + std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string XlaOracle::receive() {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    std::array<char, 4096> buffer{};
    const ssize_t count = read(socket_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw XlaError("tests/xla/oracle.py has ended; its messages are above");
    received_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::size_t XlaOracle::ask(Form form, const std::string& text, const std::string& rest) {
  const std::string name = form == Form::kHlo ? "hlo" : "stablehlo";
  const std::string program = (folder_ / ("program." + name)).string();
  std::ofstream(program) << text;
  if (!unavailable_.empty()) throw XlaError(unavailable_);
  send("{\"form\": " + json_string(name) + ", \"program\": " + json_string(program) + rest + "}\n");
  const std::string answer = receive();
  if (member(answer, "ok") == "true") return std::stoul(member(answer, "results").value_or("0"));
  throw XlaError("XLA refuses the " + name + " text (" + member(answer, "stage").value_or("?") +
                 "): " + member(answer, "message").value_or(answer));
}

void XlaOracle::accept(Form form, const std::string& text) {
  const std::lock_guard lock(mutex_);
  ask(form, text, "");
}

std::vector<Literal> XlaOracle::run(Form form, const std::string& text,
                                    std::span<const Literal> arguments) {
  const std::lock_guard lock(mutex_);
  std::string files;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const std::string file = (folder_ / ("argument" + std::to_string(i) + ".npy")).string();
    arguments[i].save_npy(file);
    files += (i == 0 ? "" : ", ") + json_string(file);
  }
  const std::string prefix = (folder_ / "result").string();
  const std::size_t count =
      ask(form, text, ", \"arguments\": [" + files + "], \"results\": " + json_string(prefix));
  std::vector<Literal> results;
  for (std::size_t i = 0; i < count; i++) {
    results.push_back(Literal::load_npy(prefix + std::to_string(i) + ".npy"));
  }
  return results;
}

void XlaTest::SetUp() {
  const std::string& why = XlaPlugin::shared().unavailable();
  if (!why.empty()) FAIL() << "There is no real XLA to compare with. " << why;
}

void expect_same_as_xla(const Function& function, const std::vector<Literal>& arguments,
                        const Tolerance& tolerance, XlaTexts texts) {
  std::string text;
  const auto compare = [&](const std::string& who, const std::vector<Literal>& got,
                           const std::vector<Literal>& want) {
    const std::string what = difference(got, want, tolerance);
    if (!what.empty()) ADD_FAILURE() << who << " differs from XLA:\n" << what << text;
  };
  try {
    std::vector<Literal> want;
    if (texts == XlaTexts::kBoth) {
      text = to_hlo_text(function);
      want = XlaOracle::shared().run(XlaOracle::Form::kHlo, text, arguments);
      const std::vector<TensorType> types = function.results();
      for (std::size_t i = 0; i < want.size(); i++) {  // .npy files have their bytes
        const TensorType& type = types[i];
        if (is_small(type.dtype)) want[i] = want[i].reinterpreted(type);
      }
      const std::string stablehlo = to_stablehlo_text(function, {.optimize = true});
      compare("XLA on optimised StableHLO text",
              XlaPlugin::shared().run(function, stablehlo, arguments), want);
    } else {
      text = to_stablehlo_text(function);
      want = XlaPlugin::shared().run(function, text, arguments);
    }
    compare("the interpreter", compile(function, {.optimize = false}).run(arguments), want);
    compare("the optimised program", compile(function).run(arguments), want);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
}

}  // namespace rondo::testing
