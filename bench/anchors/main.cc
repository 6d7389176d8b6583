#include <string_view>

#include "anchors/harness.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--first-call") {
    anchors::first_call();
    return 0;
  }
  anchors::loops();
  anchors::arrays();
  anchors::gradients();
  anchors::texts();
}
