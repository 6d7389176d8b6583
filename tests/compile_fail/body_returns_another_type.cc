// The body of a while_loop must return the state's type.
// EXPECT: body must return
#include <rondo/rondo.h>

struct House {
  rondo::Tensor step, slab;
};

House simulate(rondo::Tensor slab) {
  return rondo::while_loop([](House h) { return h.step < 20; },
                           [](House h) {
#ifdef CONTROL
                             return House{h.step + 1, h.slab * 0.5};
#else
                             return h.slab * 0.5;
#endif
                           },
                           House{0, slab});
}
