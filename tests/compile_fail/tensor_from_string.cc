// Text is no number, although a string literal is a pointer, which converts to bool.
// EXPECT: deleted function
// EXPECT: const char
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor x = 1.5;
#else
rondo::Tensor x = "1.5";
#endif
