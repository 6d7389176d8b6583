// EXPECT: more than 64 fields
#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Wide {
#define ROW(r) rondo::Tensor r##0, r##1, r##2, r##3, r##4, r##5, r##6, r##7;
  ROW(a)
  ROW(b)
  ROW(c)
  ROW(d)
  ROW(e)
  ROW(f)
  ROW(g)
  ROW(h)
#if !defined(CONTROL)
  rondo::Tensor last;
#endif
};

std::size_t count(const Wide& wide) { return rondo::leaf_count(wide); }
