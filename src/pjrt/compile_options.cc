#include "pjrt/compile_options.h"

#include <cstdint>
#include <string_view>

namespace rondo::pjrt {

namespace {

/// A message in the wire format of protocol buffers: fields by number, each a varint or bytes.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    out_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.out_); }
  const std::string& str() const { return out_; }

 private:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

}  // namespace

std::string compile_options(const XlaOptions& options) {
  const auto partitions = static_cast<std::int64_t>(options.devices.size());
  Message assignment;
  assignment.number(1, 1).number(2, partitions);
  for (const int device : options.devices)
    assignment.message(3, Message().number(1, device));  // one replica of each partition
  Message build;
  build.number(1, -1).number(4, 1).number(5, partitions);
  if (partitions > 1) build.number(6, 1);
  build.message(9, assignment);
  if (partitions > 1 && options.shardy) build.number(19, 1);
  Message all;
  all.message(3, build);
  for (const auto& [name, value] : options.flags)
    all.message(7, Message().bytes(1, name).message(2, Message().number(2, value ? 1 : 0)));
  return all.str();
}

}  // namespace rondo::pjrt
