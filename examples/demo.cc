// The program that scripts/demo shows: a thrown ball flies, slowed down by the air, until it lands.
// The number of steps is not known in advance, yet the range has a gradient in the angle. The
// program prints the loop that it traces, values and times compared with a plain C++ loop, and
// pictures. It ends with status 1 if the two differ.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr double kStep = 0.001, kDrag = 0.005, kGravity = 9.81, kSpeed = 40;  // s, 1/m, m/s^2, m/s
constexpr double kDegree = std::numbers::pi / 180;

// What the demo prints as the loop begins here.
struct Ball {
  Tensor x, y, vx, vy;  // m, m/s
};

Ball fly(Ball b) {
  const Tensor drag = kDrag * sqrt(b.vx * b.vx + b.vy * b.vy);
  return {b.x + kStep * b.vx, b.y + kStep * b.vy, b.vx - kStep * drag * b.vx,
          b.vy - kStep * (kGravity + drag * b.vy)};
}
Tensor range(Tensor angle) {
  const Ball end = rondo::while_loop([](Ball b) { return b.y >= 0; }, fly,
                                     Ball{0.0, 0.0, kSpeed * cos(angle), kSpeed * sin(angle)});
  return end.x - end.y / end.vy * end.vx;  // back to where it hit the ground
}
// And ends here.

/// The same by hand, optionally with the derivative of each value.
struct PlainBall {
  double x = 0, y = 0, vx, vy;
};
double plain_range(double angle) {
  PlainBall b{.vx = kSpeed * std::cos(angle), .vy = kSpeed * std::sin(angle)};
  while (b.y >= 0) {
    const double drag = kDrag * std::sqrt(b.vx * b.vx + b.vy * b.vy);
    b = {b.x + kStep * b.vx, b.y + kStep * b.vy, b.vx - kStep * drag * b.vx,
         b.vy - kStep * (kGravity + drag * b.vy)};
  }
  return b.x - b.y / b.vy * b.vx;
}
double plain_slope(double angle) {
  PlainBall b{.vx = kSpeed * std::cos(angle), .vy = kSpeed * std::sin(angle)};
  PlainBall d{.vx = -b.vy, .vy = b.vx};
  while (b.y >= 0) {
    const double speed = std::sqrt(b.vx * b.vx + b.vy * b.vy), drag = kDrag * speed;
    const double d_drag = kDrag * (b.vx * d.vx + b.vy * d.vy) / speed;
    d = {d.x + kStep * d.vx, d.y + kStep * d.vy, d.vx - kStep * (d_drag * b.vx + drag * d.vx),
         d.vy - kStep * (d_drag * b.vy + drag * d.vy)};
    b = {b.x + kStep * b.vx, b.y + kStep * b.vy, b.vx - kStep * drag * b.vx,
         b.vy - kStep * (kGravity + drag * b.vy)};
  }
  return d.x - (d.y * b.vx + b.y * d.vx) / b.vy + b.y * b.vx * d.vy / (b.vy * b.vy);
}

/// The fastest of some calls, in microseconds.
template <class F>
double microseconds(const F& f) {
  double least = 1e30;
  for (int i = 0; i < 20; i++) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

/// Heights of a ball at equal time steps until it lands: a loop that collects values.
std::vector<std::array<double, 2>> flight(double angle) {
  const auto path = [](Tensor a) {
    const auto some_steps = [](Ball b) {
      const auto end = rondo::fori_loop(
          0, 50, [](Tensor, Ball c) { return fly(c); }, b);
      return std::pair(end, std::pair(b.x, b.y));
    };
    const auto flown = rondo::while_scan([](Ball b) { return b.y >= 0; }, some_steps,
                                         Ball{0.0, 0.0, kSpeed * cos(a), kSpeed * sin(a)},
                                         {.max_trip_count = 400});
    return std::tuple(flown.ys, flown.count);
  };
  static const auto run = rondo::jit(path);
  const auto [ys, count] = run(angle);
  const rondo::Literal x = ys.first.eval(), y = ys.second.eval();
  std::vector<std::array<double, 2>> points;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count.template item<int>()); i++)
    points.push_back({x.data<double>()[i], y.data<double>()[i]});
  return points;
}

constexpr std::array kAngles = {15, 30, 60, 75};  // degrees, and the best one

/// The paths in characters, the best one in o.
void print_paths(double best) {
  constexpr int kColumns = 76, kRows = 17;
  constexpr double kWidth = 115, kHeight = 62;  // m
  std::vector<std::string> picture(kRows, std::string(kColumns, ' '));
  const auto draw = [&](double angle, char mark) {
    for (const auto& [x, y] : flight(angle)) {
      const int column = static_cast<int>(x / kWidth * kColumns);
      const int row = kRows - 1 - static_cast<int>(y / kHeight * kRows);
      if (column < kColumns && row >= 0)
        picture[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
    }
  };
  for (const int angle : kAngles) draw(angle * kDegree, '.');
  draw(best, 'o');
  for (const std::string& line : picture) std::cout << "  |" << line << "\n";
  std::cout << "  +" << std::string(kColumns, '-') << "\n";
}

/// The same as a picture in a file.
void write_paths(const std::string& file, double best) {
  std::ofstream svg(file);
  svg << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -64 128 72" width="1024">)"
      << R"(<rect x="-6" y="-64" width="128" height="72" fill="white"/>)"
      << R"(<path d="M0 -62V0H118" fill="none" stroke="#444" stroke-width=".3"/>)";
  const auto draw = [&](double angle, const char* color) {
    svg << R"(<polyline fill="none" stroke-width=".5" stroke=")" << color << "\" points=\"";
    const auto points = flight(angle);
    for (const auto& [x, y] : points) svg << x << "," << -y << " ";
    const auto& [x, y] = points[points.size() / 2];
    svg << R"("/><text font-family="sans-serif" font-size="2.6" x=")" << x << "\" y=\"" << -y - 1.2
        << "\" fill=\"" << color << "\">" << std::round(angle / kDegree) << "\u00b0</text>";
  };
  for (const int angle : kAngles) draw(angle * kDegree, "#7a8ea8");
  draw(best, "#c23b22");
  svg << R"(<text font-family="sans-serif" font-size="2.6" x="0" y="5">)"
      << "A ball thrown at 40 m/s, with drag; red: the angle that goes farthest</text></svg>\n";
}

/// The lines of this file between two comments.
void print_loop() {
  std::ifstream source(__FILE__);
  bool inside = false;
  for (std::string line; std::getline(source, line);) {
    if (line.find("// And ends here") == 0) break;
    if (inside) std::cout << "    " << line << "\n";
    inside = inside || line.find("// What the demo prints") == 0;
  }
}

int main() {
  std::cout << "A ball flies until it lands, after a number of steps that is unknown before:\n\n";
  print_loop();

  const rondo::Function program = rondo::trace(range, rondo::f64());
  const std::string text = rondo::to_hlo_text(program);
  std::cout << "Its HLO has " << std::count(text.begin(), text.end(), '\n')
            << " lines, and one `while`:\n\n";
  for (std::size_t at = text.find(" while("); at != std::string::npos; at = text.npos) {
    const std::size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
    std::cout << "  " << text.substr(begin, std::min<std::size_t>(end - begin, 160)) << "\n\n";
  }

  const auto value = rondo::native<double(double)>(range);
  const auto slope = rondo::native<double(double)>(rondo::grad(range));
  const double angle = 45 * kDegree;
  std::printf("At 45 degrees:          Rondo        plain C++   Rondo  plain C++\n");
  bool agree = true;
  const auto row = [&](const char* what, const auto& ours, const auto& plain) {
    const double have = ours(angle), want = plain(angle);
    agree = agree && std::abs(have - want) <= 1e-9 * std::abs(want);
    double sum = 0;  // so that no call is left out
    const double mine = microseconds([&] { sum += ours(angle); });
    const double theirs = microseconds([&] { sum += plain(angle); });
    agree = agree && std::isfinite(sum);
    std::printf("%-16s %12.6f %16.6f %7.0f us %6.0f us\n", what, have, want, mine, theirs);
  };
  row("range (m)", value, plain_range);
  row("slope (m/rad)", slope, plain_slope);
  std::cout
      << "  Rondo's slope is reverse mode through the loop, for any number of parameters; the\n"
         "  plain one is differentiated by hand, for this one.\n\n";

  double best = 30 * kDegree;
  for (int i = 0; i < 60; i++) best += 0.004 * slope(best);
  std::printf("Uphill along the slope from 30 degrees, farthest: %.2f m, at %.2f degrees (o):\n\n",
              value(best), best / kDegree);
  agree = agree && std::abs(plain_slope(best)) < 0.5;
  print_paths(best);
  write_paths("flight.svg", best);
  std::cout << "\nThe same as a picture: flight.svg in this folder.\n";
  if (!agree) std::cout << "The two programs differ.\n";
  return agree ? 0 : 1;
}
