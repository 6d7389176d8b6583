#include <rondo/implementation.h>
