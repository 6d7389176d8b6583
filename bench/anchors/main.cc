#include "anchors/harness.h"

int main() {
  anchors::loops();
  anchors::arrays();
  anchors::gradients();
  anchors::texts();
}
