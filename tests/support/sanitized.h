// RONDO_TEST_SANITIZED is defined if a sanitizer replaces the allocator. The library then recycles
// nothing.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RONDO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define RONDO_TEST_SANITIZED 1
#endif
#endif
