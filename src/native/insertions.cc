#include "native/insertions.h"

#include <utility>

namespace rondo::native_code {

void insert(MachineCode& code, const Insertions& added) {
  if (added.empty()) return;
  std::vector<Instruction> all;
  all.reserve(code.code.size() + added.size());
  for (std::size_t at = 0; at < code.code.size(); at++) {
    if (const auto found = added.find(at); found != added.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
    all.push_back(code.code[at]);
  }
  code.code = std::move(all);
}

}  // namespace rondo::native_code
