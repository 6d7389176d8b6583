// EXPECT: tree_fields.T
#include <rondo/rondo.h>

using rondo::Tensor;

class State {
 public:
  State() : x_(1.0f), v_(2.0f) {}
#ifdef CONTROL
  friend auto tree_fields(State& s) { return std::tie(s.x_, s.v_); }
#endif
  Tensor sum() const { return x_ + v_; }

 private:
  Tensor x_, v_;
};

auto result = rondo::jit([](State s) { return s.sum(); })(State());
