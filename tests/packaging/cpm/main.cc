#include <rondo/rondo.h>

int main() { return rondo::Tensor(0).item<int>(); }
