// A null pointer is no number, although a pointer converts to bool.
// EXPECT: deleted function
// EXPECT: nullptr
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor x = 0;
#else
rondo::Tensor x = nullptr;
#endif
