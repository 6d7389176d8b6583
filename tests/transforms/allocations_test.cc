// What calls and traces allocate: this program counts the blocks that each thread asks for.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RONDO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define RONDO_TEST_SANITIZED 1
#endif
#endif

// Not inline, or g++ sees free() called on what new gave. Sanitizers have their own, and the
// library recycles nothing under them.
#if !defined(RONDO_TEST_SANITIZED)

namespace {

thread_local std::int64_t allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  allocations++;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* checked(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return checked(counted(bytes, 16)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, 16);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return checked(counted(bytes, static_cast<std::size_t>(alignment)));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}

namespace rondo::testing {
namespace {

template <class F>
std::int64_t allocations_of(const F& f) {
  const std::int64_t before = allocations;
  f();
  return allocations - before;
}

const JitOptions kNative{.compile = {.executor = Executor::kCompiled}};

TEST(Allocations, ACallOfANativeFunctionMakesNone) {
  const auto f = native<std::array<float, 8>(const std::array<float, 8>&, float)>(
      [](Tensor x, Tensor a) {
        return fori_loop(
            0, 10, [&](Tensor, Tensor y) { return sin(y) * a + 1; }, x);
      },
      kNative);
  std::array<float, 8> x{1, 2, 3};
  x = f(x, 0.5f);
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; i++) x = f(x, 0.5f);
            }),
            0);
}

TEST(Allocations, AJittedCallAsTheLastMakesNone) {
  const auto f = jit([](Tensor a, Tensor b) { return std::pair(a + b, a * b); }, kNative);
  const Tensor b(2.f);
  for (int i = 0; i < 3; i++) EXPECT_EQ(f(1.f, b).first.item<float>(), 3.f);
  EXPECT_EQ(allocations_of([&] {
              for (int i = 0; i < 100; i++) static_cast<void>(f(1.f, b).second);
            }),
            0);
}

TEST(Allocations, ATracedOpTakesOneBlock) {
  const auto chain = [](std::int64_t ops) {
    return trace(
        [ops](Tensor x) {
          for (std::int64_t i = 0; i < ops; i++) x = x + x;
          return x;
        },
        f32({128}));
  };
  release_cached_memory();
  const std::int64_t few = allocations_of([&] { static_cast<void>(chain(10).body()); });
  release_cached_memory();
  const std::int64_t many = allocations_of([&] { static_cast<void>(chain(10'010).body()); });
  EXPECT_LE(many - few, 10'000 + 100);  // and vectors that grow
  // The next one finds them again.
  EXPECT_LE(allocations_of([&] { static_cast<void>(chain(10'010).body()); }), few + 100);
}

}  // namespace
}  // namespace rondo::testing

#endif
