// Loops over scalars, over lanes, and searches.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <numbers>

#include "anchors/harness.h"

namespace anchors {

using rondo::DType;
using rondo::Tensor;

namespace {

struct House {
  Tensor slab, quanta, tank;
};

constexpr double kArea = std::numbers::pi * 0.019 * (100 / 0.50292);
constexpr double kMass = kArea * 0.019 / 4 * 1000;
constexpr double kConductance = kArea / (0.35 * 0.0023);

House step(House s) {
  const Tensor p = (s.tank - s.quanta) * 0.6309 * 4184.0, q = (s.quanta - s.slab) * kConductance;
  return {s.slab + q * 0.1 / (880 * 22650.058), s.quanta + (p - q) * 0.1 / (4184 * kMass),
          s.tank - p * 0.1 / (4184 * 75.708)};
}

auto simulate(int trips, bool unrolled) {
  return [=](Tensor slab, Tensor quanta, Tensor tank) {
    House s{slab, quanta, tank};
    if (!unrolled)
      return rondo::fori_loop(
          0, trips, [](Tensor, House h) { return step(h); }, s);
    for (int i = 0; i < trips; i++) s = step(s);
    return s;
  };
}

/// Runs this program again as a process that makes only the first call.
void run_first_call_process() {
  char name[] = "rondo_anchors", option[] = "--first-call";
  char* const arguments[] = {name, option, nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  int status = -1;
  const bool ran =
      posix_spawn(&process, "/proc/self/exe", &quiet, nullptr, arguments, environ) == 0 &&
      waitpid(process, &status, 0) == process;
  posix_spawn_file_actions_destroy(&quiet);
  if (!ran || status != 0) throw rondo::Error("the process of the first call failed");
}

void thermal() {
  for (int trips : {20, 1000, 10000}) {
    auto run = jitted(simulate(trips, false));
    House end;
    time_it(
        "thermal" + std::to_string(trips), "us", [&] { end = run(33.3f, 33.3f, 70.0f); },
        [&] { return check_sum(end.slab) + check_sum(end.quanta) + check_sum(end.tank); });
  }
  time_it("first_call", "ms", [] { (void)jitted(simulate(20, false))(33.3f, 33.3f, 70.0f); });
  time_it("first_call_process", "ms", run_first_call_process);
  struct Case {
    const char* work;
    int trips;
    bool unrolled;
  };
  for (const Case& c :
       {Case{"compile_thermal20_loop", 20, false}, Case{"compile_thermal1000_loop", 1000, false},
        Case{"compile_thermal20_unrolled", 20, true},
        Case{"compile_thermal200_unrolled", 200, true},
        Case{"compile_thermal1000_unrolled", 1000, true}}) {
    time_it(c.work, "ms", [&] {
      rondo::compile(
          rondo::trace(simulate(c.trips, c.unrolled), rondo::f32(), rondo::f32(), rondo::f32()));
    });
  }
}

void scalars() {
  auto run = jitted([](Tensor x, Tensor a, Tensor b, Tensor n) {
    return std::get<1>(rondo::while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [&](Tensor i, Tensor x) { return std::tuple(i + 1, x * a + b); }, std::tuple(0, x)));
  });
  Tensor x;
  time_it(
      "scalar_while", "ns/trip", [&] { x = run(0.5f, 0.999f, 0.01f, 1'000'000); },
      [&] { return check_sum(x); }, 1e6);
  auto add = jitted([](Tensor a, Tensor b) { return a + b; });
  time_it(
      "dispatch", "us", [&] { x = add(1.0f, 2.0f); }, [&] { return check_sum(x); });
  const Tensor a(1.0f), b(2.0f);
  time_it(
      "dispatch_device", "us", [&] { x = add(a, b); }, [&] { return check_sum(x); });
}

/// One while over all lanes, which runs as long as the condition of any lane holds.
void lanes() {
  if (wanted("mandelbrot")) {
    const int n = 1024;
    std::vector<float> re, im;
    for (int y = 0; y < n; y++) {
      for (int x = 0; x < n; x++) {
        re.push_back(-2 + 2.5f * static_cast<float>(x) / static_cast<float>(n));
        im.push_back(-1.25f + 2.5f * static_cast<float>(y) / static_cast<float>(n));
      }
    }
    struct Lanes {
      Tensor trip, count, zr, zi;
    };
    auto escape = jitted([](Tensor cr, Tensor ci) {
      auto alive = [](Lanes s) { return s.zr * s.zr + s.zi * s.zi <= 4; };
      const Tensor none = cr * 0;
      return rondo::while_loop([&](Lanes s) { return (s.trip < 1000) & any(alive(s)); },
                               [&](Lanes s) {
                                 const Tensor on = alive(s);
                                 return Lanes{s.trip + 1, s.count + convert(on, DType::kS32),
                                              where(on, s.zr * s.zr - s.zi * s.zi + cr, s.zr),
                                              where(on, 2 * s.zr * s.zi + ci, s.zi)};
                               },
                               Lanes{0, convert(none, DType::kS32), none, none})
          .count;
    });
    Tensor count;
    time_it(
        "mandelbrot", "ms", [&] { count = escape(literal(re, {n * n}), literal(im, {n * n})); },
        [&] { return check_sum(count); });
  }
  auto steps = jitted([](Tensor v) {
    return std::get<1>(rondo::while_loop([](Tensor v, Tensor) { return any(v != 1); },
                                         [](Tensor v, Tensor count) {
                                           const Tensor on = v != 1;
                                           return std::tuple(
                                               where(on, where((v & 1) == 1, 3 * v + 1, v >> 1), v),
                                               count + convert(on, DType::kS32));
                                         },
                                         std::tuple(v, v * 0)));
  });
  Tensor count;
  const rondo::Literal start = (rondo::arange(100'000) + 1).eval();
  time_it(
      "collatz", "ms", [&] { count = steps(start); }, [&] { return check_sum(count); });
}

void n_body() {
  const double sun = 4 * std::numbers::pi * std::numbers::pi, year = 365.24;
  const std::vector<double> masses{sun, 9.54791938424326609e-04 * sun,
                                   2.85885980666130812e-04 * sun, 4.36624404335156298e-05 * sun,
                                   5.15138902046611451e-05 * sun};
  const std::vector<double> places{0,
                                   0,
                                   0,
                                   4.84143144246472090,
                                   -1.16032004402742839,
                                   -0.103622044471123109,
                                   8.34336671824457987,
                                   4.12479856412430479,
                                   -0.403523417114321381,
                                   12.8943695621391310,
                                   -15.1111514016986312,
                                   -0.223307578892655734,
                                   15.3796971148509165,
                                   -25.9193146099879641,
                                   0.179258772950371181};
  std::vector<double> speeds{0,
                             0,
                             0,
                             0.00166007664274403694,
                             0.00769901118419740425,
                             -0.0000690460016972063023,
                             -0.00276742510726411899,
                             0.00499852801234917238,
                             0.0000230417297573763929,
                             0.00296460137564761618,
                             0.00237847173959480950,
                             -0.0000296589568540237556,
                             0.00268067772490389322,
                             0.00162824170038242295,
                             -0.0000951592254519715870};
  for (double& v : speeds) v *= year;
  for (std::size_t i = 3; i < 15; i++) speeds[i % 3] -= speeds[i] * masses[i / 3] / sun;
  auto run = jitted([](Tensor x, Tensor v, Tensor m) {
    const Tensor diagonal = rondo::eye(5, DType::kF64);
    auto apart = [](Tensor x) { return expand_dims(x, 1) - expand_dims(x, 0); };
    auto [xs, vs] = rondo::fori_loop(
        0, 1000,
        [&](Tensor, Tensor x, Tensor v) {
          const Tensor d = apart(x), r = sum(d * d, {2}) + diagonal;
          const Tensor next =
              v - sum(d * expand_dims(expand_dims(m, 0) * 0.01 / (r * sqrt(r)), 2), {1});
          return std::tuple(x + 0.01 * next, next);
        },
        std::tuple(x, v));
    const Tensor d = apart(xs), r = sqrt(sum(d * d, {2}) + diagonal);
    return 0.5 * sum(m * sum(vs * vs, {1})) -
           0.5 * sum(expand_dims(m, 0) * expand_dims(m, 1) / r * (1 - diagonal));
  });
  Tensor energy;
  const auto x = rondo::Literal::from(places, {5, 3}), v = rondo::Literal::from(speeds, {5, 3}),
             m = rondo::Literal::from(masses, {5});
  time_it(
      "nbody", "ms", [&] { energy = run(x, v, m); }, [&] { return check_sum(energy); });
}

void searches() {
  static constexpr int n = 1000, most = 100;
  struct State {
    Tensor i, count, keep, chosen;
  };
  auto suppress = jitted([](Tensor cx, Tensor cy, Tensor w, Tensor h) {
    const Tensor x0 = cx - w / 2, x1 = cx + w / 2, y0 = cy - h / 2, y1 = cy + h / 2, area = w * h;
    auto take = [&](State s) {
      const Tensor width = maximum(minimum(x1[s.i], x1) - maximum(x0[s.i], x0), 0),
                   height = maximum(minimum(y1[s.i], y1) - maximum(y0[s.i], y0), 0);
      const Tensor both = width * height;
      return State{s.i + 1, s.count + 1, s.keep & !(both > 0.5f * (area[s.i] + area - both)),
                   update(s.chosen, s.count, s.i)};
    };
    return rondo::while_loop(
               [](State s) { return (s.i < n) & (s.count < most); },
               [&](State s) {
                 return rondo::cond(
                     s.keep[s.i], take,
                     [](State s) {
                       return State{s.i + 1, s.count, s.keep, s.chosen};
                     },
                     s);
               },
               State{0, 0, rondo::full(rondo::pred({n}), true), rondo::zeros(rondo::s32({most}))})
        .chosen;
  });
  const auto cx = literal(fill(n, 1, 0, 50), {n}), cy = literal(fill(n, 2, 0, 50), {n}),
             w = literal(fill(n, 3, 5, 25), {n}), h = literal(fill(n, 4, 5, 25), {n});
  Tensor chosen;
  time_it(
      "nms", "ms", [&] { chosen = suppress(cx, cy, w, h); }, [&] { return check_sum(chosen); });

  if (!wanted("searchsorted")) return;
  std::vector<float> table = fill(1'000'000, 5);
  std::sort(table.begin(), table.end());
  auto search = jitted([](Tensor table, Tensor wanted) {
    const Tensor zero = convert(wanted * 0, DType::kS32);
    auto [low, high] = rondo::while_loop([](Tensor low, Tensor high) { return any(low < high); },
                                         [&](Tensor low, Tensor high) {
                                           const Tensor middle = (low + high) / 2, on = low < high,
                                                        less = take(table, middle, 0) < wanted;
                                           return std::tuple(where(on & less, middle + 1, low),
                                                             where(on & !less, middle, high));
                                         },
                                         std::tuple(zero, zero + static_cast<int>(table.dim(0))));
    return low;
  });
  const auto sorted = literal(table, {1'000'000}), queries = literal(fill(100'000, 6), {100'000});
  Tensor places;
  time_it(
      "searchsorted", "ms", [&] { places = search(sorted, queries); },
      [&] { return check_sum(places); });
}

void mersenne_twister() {
  auto draw = jitted([](Tensor seed) {
    Tensor state = rondo::fori_loop(
        1, 624,
        [](Tensor i, Tensor s) {
          const Tensor before = s[i - 1];
          return update(s, i, 1812433253u * (before ^ (before >> 30)) + convert(i, DType::kU32));
        },
        update(rondo::zeros(rondo::u32({624})), 0, seed));
    auto twist = [](Tensor i, Tensor s) {
      const Tensor y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
      return update(s, i,
                    s[(i + 397) % 624] ^ (y >> 1) ^ where((y & 1) == 1, 0x9908b0dfu, Tensor(0u)));
    };
    auto block = [&](Tensor s) {
      s = rondo::fori_loop(0, 624, twist, s);
      Tensor y = s ^ (s >> 11);
      y = y ^ ((y << 7) & 0x9d2c5680u);
      y = y ^ ((y << 15) & 0xefc60000u);
      return std::pair(s, y ^ (y >> 18));
    };
    const Tensor draws = rondo::scan(block, state, std::tuple<>(), {.length = 17}).second;
    return reshape(draws, {17 * 624})[9999];
  });
  Tensor last;
  time_it(
      "mt19937", "ms", [&] { last = draw(5489u); }, [&] { return check_sum(last); });
}

}  // namespace

void first_call() {
  const House end = jitted(simulate(20, false))(33.3f, 33.3f, 70.0f);
  for (const Tensor& each : {end.slab, end.quanta, end.tank})
    std::printf("%g\n", static_cast<double>(each.item<float>()));
}

void loops() {
  scalars();
  thermal();
  lanes();
  n_body();
  searches();
  mersenne_twister();
}

}  // namespace anchors
