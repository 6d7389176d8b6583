#include "pjrt/fake_plugin/program_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

namespace rondo::testing {

namespace {

constexpr std::string_view kTensor = "tensor<";

/// The sizes of the axes of `sdy.mesh @mesh = <["data"=4, "model"=2]>`.
std::map<std::string, std::int64_t> axes_of(const std::string& text) {
  std::map<std::string, std::int64_t> axes;
  std::size_t at = text.find("sdy.mesh @mesh = <[");
  if (at == std::string::npos) return axes;
  const std::size_t end = text.find(']', at);
  for (at = text.find('"', at); at < end; at = text.find('"', at)) {
    const std::size_t close = text.find("\"=", at + 1);
    axes[text.substr(at + 1, close - at - 1)] = std::stoll(text.substr(close + 2));
    at = close + 2;
  }
  return axes;
}

/// The value whose type is the start of `text`, which ends before the next one.
FakeValue value_of(const std::string& text, const std::map<std::string, std::int64_t>& axes) {
  FakeValue value;
  value.dtype = text.substr(kTensor.size(), text.find('>') - kTensor.size());
  for (std::size_t x = value.dtype.find('x'); x != std::string::npos; x = value.dtype.find('x')) {
    value.dimensions.push_back(std::stoll(value.dtype.substr(0, x)));
    value.dtype = value.dtype.substr(x + 1);
  }
  value.donor = text.find("jax.buffer_donor") != std::string::npos;
  const std::string_view sharding = "#sdy.sharding<@mesh, [";
  std::size_t at = text.find(sharding);
  if (at == std::string::npos) return value;
  at += sharding.size();
  const std::size_t end = text.find(']', at);
  for (std::int64_t& size : value.dimensions) {  // each has its axes in braces
    const std::size_t close = text.find('}', at);
    for (at = text.find('"', at); at < std::min(close, end); at = text.find('"', at)) {
      const std::size_t quote = text.find('"', at + 1);
      size /= axes.at(text.substr(at + 1, quote - at - 1));
      at = quote + 1;
    }
    at = close + 1;
  }
  return value;
}

std::vector<FakeValue> values_of(const std::string& text,
                                 const std::map<std::string, std::int64_t>& axes) {
  std::vector<FakeValue> values;
  for (std::size_t at = text.find(kTensor); at != std::string::npos;) {
    const std::size_t next = text.find(kTensor, at + 1);
    values.push_back(value_of(text.substr(at, next - at), axes));
    at = next;
  }
  return values;
}

/// The fields of a message in the wire format of protocol buffers: varints and bytes.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    number = static_cast<int>(key >> 3);
    value = varint();
    if ((key & 7) != 2) return true;
    bytes = rest_.substr(0, value);
    rest_.remove_prefix(value);
    return true;
  }
  int number = 0;
  std::uint64_t value = 0;  // or the number of bytes
  std::string_view bytes;

 private:
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
  }
  std::string_view rest_;
};

}  // namespace

FakeSignature signature_of(const std::string& text) {
  const std::map<std::string, std::int64_t> axes = axes_of(text);
  const std::size_t start = text.find("@main("), arrow = text.find("->", start);
  const std::size_t end = std::min(text.find('\n', arrow), text.size());
  return {values_of(text.substr(start, arrow - start), axes),
          values_of(text.substr(arrow, end - arrow), axes)};
}

std::vector<std::int64_t> assigned_devices(const std::string& options) {
  std::vector<std::int64_t> ids;
  for (Fields all(options); all.next();) {
    if (all.number != 3) continue;
    for (Fields build(all.bytes); build.next();) {
      if (build.number != 9) continue;
      for (Fields assignment(build.bytes); assignment.next();) {
        if (assignment.number != 3) continue;
        for (Fields partition(assignment.bytes); partition.next();)
          ids.push_back(static_cast<std::int64_t>(partition.value));
      }
    }
  }
  return ids;
}

}  // namespace rondo::testing
