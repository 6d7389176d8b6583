// Calls of the user's lambdas by code that has a LocationScope.
#pragma once

#include "rondo/error.h"

namespace rondo::ir {

/// While one exists, no LocationScope of this thread that is older is in force: ops have their own
/// lines.
class UserCode {
 public:
  UserCode() noexcept;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

 private:
  const SourceLocation* outer_;
};

}  // namespace rondo::ir
