// Braces have no type by which a function could be found.
// EXPECT: did you mean .*rondo::concatenate
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
Tensor braces(Tensor a, Tensor b) { return rondo::concatenate({a, b}, 0); }
Tensor found(Tensor a, Tensor b) { return concatenate(0, a, stack(0, b, b)); }
#else
Tensor braces(Tensor a, Tensor b) { return concatenate({a, b}, 0); }
#endif
