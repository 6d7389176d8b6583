// Lesson 25: an ensemble of houses. Each heats its slab until it is warm, and stops at its own
// time; the quantiles of these times and of the tank's final temperature show how certain the
// forecast is.
//
// Run with a file name to draw the quantiles over time as SVG.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

// Geometry and material as in lesson 8, SI units; a step is 20 s.
constexpr double kSlabHeat = 880 * 22650.058, kTankHeat = 4184 * 75.708;  // J/K
constexpr double kStep = 20;

struct House {
  Tensor hours, slab, tank;
};

/// The conductance from tank to slab, in W/K, and the weather outside are uncertain.
House step(House h, Tensor conductance, Tensor outside) {
  const Tensor heat = (h.tank - h.slab) * conductance;
  const Tensor lost = (h.slab - outside) * 180;
  return House{h.hours + kStep / 3600, h.slab + (heat - lost) * (kStep / kSlabHeat),
               h.tank - (heat - 6000) * (kStep / kTankHeat)};
}

/// Until the slab has 24 degrees; two days at most.
House until_warm(Tensor conductance, Tensor outside) {
  return rondo::while_loop([](House h) { return (h.slab < 24) & (h.hours < 48); },
                           [&](House h) { return step(h, conductance, outside); },
                           House{0.0, 20.0, 45.0});
}

Tensor slab_by_hour(Tensor conductance, Tensor outside) {
  const auto one_hour = [&](House h) {
    const House next = rondo::fori_loop(
        0, 180, [&](Tensor, House now) { return step(now, conductance, outside); }, h);
    return std::pair(next, next.slab);
  };
  return rondo::scan(one_hour, House{0.0, 20.0, 45.0}, std::tuple<>{}, {.length = 24}).second;
}

void draw(const std::string& file, const std::vector<std::vector<double>>& lines) {
  std::ofstream out(file);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 340\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n"
         "<rect width=\"520\" height=\"340\" fill=\"white\"/>\n";
  const auto x = [](std::size_t hour) { return 50 + 19 * static_cast<double>(hour + 1); };
  const auto y = [](double degrees) { return 300 - 20 * (degrees - 20); };
  const auto path = [&](const std::vector<double>& line, bool back) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); i++) {
      const std::size_t hour = back ? line.size() - 1 - i : i;
      text += std::to_string(x(hour)) + "," + std::to_string(y(line[hour])) + " ";
    }
    return text;
  };
  for (int degrees = 20; degrees <= 32; degrees += 2) {
    out << "<line x1=\"50\" x2=\"510\" y1=\"" << y(degrees) << "\" y2=\"" << y(degrees)
        << "\" stroke=\"#ddd\"/>\n<text x=\"20\" y=\"" << y(degrees) + 4 << "\">" << degrees
        << "</text>\n";
  }
  for (std::size_t hour = 3; hour < 24; hour += 4)
    out << "<text x=\"" << x(hour) - 6 << "\" y=\"320\">" << hour + 1 << "</text>\n";
  out << "<text x=\"240\" y=\"336\">hours</text>\n<text x=\"50\" y=\"16\">slab, degrees Celsius: "
         "5, 25, 50, 75 and 95 % of 256 houses</text>\n";
  out << "<polygon fill=\"#cfe2f3\" points=\"" << path(lines[0], false) << path(lines[4], true)
      << "\"/>\n<polygon fill=\"#8fb8de\" points=\"" << path(lines[1], false)
      << path(lines[3], true) << "\"/>\n<polyline fill=\"none\" stroke=\"#1c4e80\" "
      << "stroke-width=\"2\" points=\"" << path(lines[2], false) << "\"/>\n</svg>\n";
}

int main(int argc, char** argv) {
  constexpr std::int64_t kHouses = 256;
  const Tensor key = rondo::random::key(7);
  const Tensor keys = rondo::random::split(key, 2);
  const Tensor conductance = 700 * exp(0.2 * rondo::random::normal(keys[0], rondo::f64({kHouses})));
  const Tensor outside = 4 * rondo::random::normal(keys[1], rondo::f64({kHouses}));

  const House ends = rondo::jit(rondo::vmap(until_warm))(conductance, outside);
  std::printf("%10s  %8s  %8s\n", "quantile", "hours", "tank");
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    std::printf("%9.0f%%  %8.2f  %8.2f\n", 100 * share,
                quantile(ends.hours, share, 0).item<double>(),
                quantile(ends.tank, share, 0).item<double>());
  }

  const Tensor slabs = rondo::jit(rondo::vmap(slab_by_hour))(conductance, outside);
  std::vector<std::vector<double>> lines;
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    const rondo::Literal line = quantile(slabs, share, 0).eval();
    lines.emplace_back(line.data<double>().begin(), line.data<double>().end());
  }
  std::printf("slab after a day: %.2f to %.2f degrees in nine of ten houses\n", lines[0].back(),
              lines[4].back());
  if (argc > 1) draw(argv[1], lines);
}
