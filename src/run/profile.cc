// A profile as a table and as JSON.
#include "rondo/profile.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <utility>

#include "base/escape.h"
#include "fmt/format.h"

namespace rondo {

namespace {

std::string time_text(double seconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= unit) return fmt::format("{:.3g} {}", seconds / unit, name);
  }
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

/// 12,345
std::string count_text(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3 + (count < 0 ? 1U : 0U);) text.insert(at -= 3, 1, ',');
  return text;
}

std::string place_text(const std::string& name, const SourceLocation& at) {
  const std::string shown = name.empty() ? "while" : name;
  return at.line == 0 ? shown : fmt::format("{} ({})", shown, at.str());
}

void append_row(std::string& out, const std::string& share, const std::string& seconds,
                const std::string& count, const std::string& each, const std::string& what) {
  fmt::format_to(std::back_inserter(out), "{:>7}  {:>9}  {:>13}  {:>9}  {}\n", share, seconds,
                 count, each, what);
}

void append_timed(std::string& out, double share, double seconds, std::int64_t count,
                  const std::string& what) {
  append_row(out, fmt::format("{:.1f} %", share * 100), time_text(seconds), count_text(count),
             count > 0 ? time_text(seconds / static_cast<double>(count)) : "", what);
}

void append_kernels(std::string& out, const std::vector<KernelProfile>& kernels,
                    const std::string& indent) {
  for (const KernelProfile& kernel : kernels)
    append_timed(out, kernel.share, kernel.seconds, kernel.calls,
                 indent + "kernel " + place_text(kernel.name, kernel.location));
}

/// At most 256 deep.
void append_loops(std::string& out, const std::vector<LoopProfile>& loops,
                  const std::string& indent) {
  for (const LoopProfile& loop : loops) {
    const std::string what = indent + place_text(loop.name, loop.location);
    if (loop.timed)
      append_timed(out, loop.share, loop.seconds, loop.trips, what);
    else
      append_row(out, "", "", count_text(loop.trips), "", what + ", vectorized with the one above");
    append_kernels(out, loop.kernels, indent + "  ");
    append_loops(out, loop.children, indent + "  ");
  }
}

/// Bars of the Trace Event Format, in microseconds.
class TraceEvents {
 public:
  std::string json(const Profile& profile) && {
    out_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    bar("run", "run", {}, 0, profile.seconds(), profile.seconds(), 1, {});
    inside(profile.loops(), profile.kernels(), 0, profile.seconds());
    return std::move(out_) + "\n]}\n";
  }

 private:
  void bar(const std::string& name, const char* kind, const SourceLocation& at, double begin,
           double length, double seconds, double share, const std::string& counts) {
    out_ += out_.back() == '[' ? "\n{\"name\":" : ",\n{\"name\":";
    append_json(out_, name.empty() ? "while" : name);
    fmt::format_to(std::back_inserter(out_),
                   R"(,"cat":"{}","ph":"X","pid":1,"tid":1,"ts":{:.3f},"dur":{:.3f},"args":{{)",
                   kind, begin * 1e6, length * 1e6);
    if (at.line != 0) {
      out_ += "\"location\":";
      append_json(out_, at.str());
      out_ += ',';
    }
    fmt::format_to(std::back_inserter(out_), R"("seconds":{:.9f},"share":{:.6f}{}}}}})", seconds,
                   share, counts);
  }

  /// What ran in a bar from `begin` to `begin + length`, side by side. At most 256 deep.
  void inside(const std::vector<LoopProfile>& loops, const std::vector<KernelProfile>& kernels,
              double begin, double length) {
    double all = 0;
    for (const LoopProfile& loop : loops) all += loop.seconds;
    for (const KernelProfile& kernel : kernels) all += kernel.seconds;
    // Clocks are read a little apart, and loops of functions are counted with the kernels that call
    // these too.
    const double scale = all > length ? length / all : 1;
    for (const KernelProfile& kernel : kernels) {
      bar(kernel.name, "kernel", kernel.location, begin, kernel.seconds * scale, kernel.seconds,
          kernel.share, fmt::format(R"(,"calls":{})", kernel.calls));
      begin += kernel.seconds * scale;
    }
    for (const LoopProfile& loop : loops) {
      if (loop.timed)
        bar(loop.name, "loop", loop.location, begin, loop.seconds * scale, loop.seconds, loop.share,
            fmt::format(R"(,"trips":{},"entered":{})", loop.trips, loop.entered));
      inside(loop.children, loop.kernels, begin, loop.seconds * scale);
      begin += loop.seconds * scale;
    }
  }

  std::string out_;
};

}  // namespace

Profile::Profile(double seconds, std::vector<LoopProfile> loops, std::vector<KernelProfile> kernels)
    : seconds_(seconds), loops_(std::move(loops)), kernels_(std::move(kernels)) {}

std::string Profile::str() const {
  std::string out = "a run of " + time_text(seconds_) + "\n";
  if (loops_.empty() && kernels_.empty()) return out;
  append_row(out, "share", "time", "trips, calls", "each", "loop or kernel");
  append_kernels(out, kernels_, "");
  append_loops(out, loops_, "");
  return out;
}

std::string Profile::to_json() const { return TraceEvents().json(*this); }

std::ostream& operator<<(std::ostream& out, const Profile& profile) { return out << profile.str(); }

}  // namespace rondo
