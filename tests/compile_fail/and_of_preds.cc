// && would need the left side now.
// EXPECT: combine preds with & in place of &&
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor inside(const rondo::Tensor& x) { return (x > 0) & (x < 1); }
#else
rondo::Tensor inside(const rondo::Tensor& x) { return x > 0 && x < 1; }
#endif
