// The body of a loop is called with Tensors.
// EXPECT: a parameter of a loop.s lambda is a C.. number
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::while_loop([](rondo::Tensor x) { return x < 9; },
                                      [](rondo::Tensor x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end =
    rondo::while_loop([](rondo::Tensor x) { return x < 9; }, [](double x) { return x * 2; }, 1.0f);
#endif
