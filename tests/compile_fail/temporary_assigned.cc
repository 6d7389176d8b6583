// Assigning to the result of an op has no effect.
// EXPECT: changes nothing
#include <rondo/rondo.h>

#ifdef CONTROL
void set(rondo::Tensor& x) { x = 2; }
#else
void set(const rondo::Tensor& x) { x + 1 = 2; }
#endif
