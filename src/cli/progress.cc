#include "cli/progress.h"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "fmt/format.h"

namespace rondo::cli {

namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kShownLoops = 3;  // the outer ones
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string position_text(const LoopPosition& position) {
  const std::string_view name = position.loop.empty() ? "loop" : position.loop;
  return position.of ? fmt::format("{} {}/{}", name, position.trip, *position.of)
                     : fmt::format("{} {}", name, position.trip);
}

std::string time_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

double fraction_done(const Progress& progress) {
  if (progress.path.empty()) {
    if (!progress.of || *progress.of <= 0) return -1;
    return std::clamp(static_cast<double>(progress.trip) / static_cast<double>(*progress.of), 0.0,
                      1.0);
  }
  double inner = 0;
  bool known = false;
  for (auto loop = progress.path.rbegin(); loop != progress.path.rend(); ++loop) {
    known = loop->of && *loop->of > 0;
    if (!known) {
      inner = 0;  // where it is within a trip of the loop around it is unknown
      continue;
    }
    const double done = static_cast<double>(loop->trip - 1) + inner;
    inner = std::clamp(done / static_cast<double>(*loop->of), 0.0, 1.0);
  }
  return known ? inner : -1;
}

std::string progress_line(const Progress& progress, double seconds) {
  std::string line;
  const double done = fraction_done(progress);
  if (done >= 0) {
    const int full = static_cast<int>(done * kBarWidth);
    line = fmt::format("[{:=<{}}{:<{}}] {:3.0f}%  ", "", full, full < kBarWidth ? ">" : "",
                       kBarWidth - full, 100 * done);
  }
  if (progress.path.empty()) line += position_text(progress);
  for (std::size_t i = 0; i < progress.path.size() && i < kShownLoops; i++)
    line += (i > 0 ? ", " : "") + position_text(progress.path[i]);
  if (progress.path.size() > kShownLoops) line += ", ...";
  return line + (done > 0 ? fmt::format("  {} left", time_text(seconds * (1 - done) / done))
                          : fmt::format("  {}", time_text(seconds)));
}

ProgressBar::~ProgressBar() {
  if (shown_) terminal_ << kClearLine << std::flush;
}

void ProgressBar::show(const Progress& progress) {
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  if (seconds < 1) return;
  terminal_ << kClearLine << progress_line(progress, seconds) << std::flush;
  shown_ = true;
}

}  // namespace rondo::cli
