#include <stdlib.h>

#include <string_view>

#include "anchors/harness.h"

int main(int argc, char** argv) {
  // The other systems get the same setting. A process with threads needs locked instructions to
  // count handles.
  setenv("OPENBLAS_NUM_THREADS", anchors::setting("ANCHOR_THREADS", "1").c_str(), 0);
  if (argc == 2 && std::string_view(argv[1]) == "--first-call") {
    anchors::first_call();
    return 0;
  }
  anchors::loops();
  anchors::arrays();
  anchors::gradients();
  anchors::texts();
}
