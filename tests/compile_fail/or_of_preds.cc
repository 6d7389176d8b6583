// || would need the left side now, beside a bool too.
// EXPECT: combine preds with . in place of
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor outside(const rondo::Tensor& x, bool always) { return always | (x < 0); }
#else
rondo::Tensor outside(const rondo::Tensor& x, bool always) { return always || x < 0; }
#endif
