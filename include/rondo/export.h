// Marks the public symbols of a shared library. The build hides all others.
//
// The build defines RONDO_SHARED for the library and for those who link it when it is shared. A
// static library and header-only use need no mark: there, a user's own shared library decides what
// it exports.
#pragma once

#if defined(RONDO_SHARED)
#define RONDO_API __attribute__((visibility("default")))
// The same in a list of standard attributes, which a class cannot combine with the other form.
#define RONDO_VISIBLE gnu::visibility("default"),
#else
#define RONDO_API
#define RONDO_VISIBLE
#endif
