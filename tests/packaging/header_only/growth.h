#ifndef GROWTH_H_
#define GROWTH_H_

#include <rondo/rondo.h>

// The capital after some years at a rate of interest, all of them scalars.
rondo::Tensor grow(rondo::Tensor capital, rondo::Tensor rate, rondo::Tensor years);

#endif  // GROWTH_H_
