#include "native/x86/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "native/x86/decode_table.h"

namespace rondo::native_code::x86 {

namespace {

constexpr std::string_view kConditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                            "s", "ns", "p", "np", "l", "ge", "le", "g"};
/// Predicates of vcmpps and the like; vpcmpd has the first eight, except those that are not
/// comparisons.
constexpr std::string_view kFloatConditions[] = {
    "eq",    "lt",     "le",     "unord",    "neq",    "nlt",    "nle",    "ord",
    "eq_uq", "nge",    "ngt",    "false",    "neq_oq", "ge",     "gt",     "true",
    "eq_os", "lt_oq",  "le_oq",  "unord_s",  "neq_us", "nlt_uq", "nle_uq", "ord_s",
    "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us"};

std::string general_name(int number, int bytes) {
  constexpr std::string_view names[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  if (number >= 8)
    return fmt::format("r{}{}", number,
                       bytes == 8   ? ""
                       : bytes == 4 ? "d"
                       : bytes == 2 ? "w"
                                    : "b");
  const std::string_view name = names[number];
  if (bytes == 1) return fmt::format("{}l", number < 4 ? name.substr(0, 1) : name);
  return fmt::format("{}{}", bytes == 8 ? "r" : bytes == 4 ? "e" : "", name);
}

std::string vector_name(int number, int bytes) {
  return fmt::format("{}mm{}", bytes == 64 ? 'z' : bytes == 32 ? 'y' : 'x', number);
}

std::string_view size_name(int bytes) {
  switch (bytes) {
    case 1:
      return "byte ptr ";
    case 2:
      return "word ptr ";
    case 4:
      return "dword ptr ";
    case 8:
      return "qword ptr ";
    case 16:
      return "xmmword ptr ";
    case 32:
      return "ymmword ptr ";
    case 64:
      return "zmmword ptr ";
    default:
      return "";
  }
}

/// One instruction. `known_` becomes false at any encoding that Emitter does not write.
class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> code, std::size_t offset) : code_(code), offset_(offset) {}

  Decoded run() {
    read_prefixes();
    const auto opcode = static_cast<std::uint8_t>(take(1));
    const auto encodings = form_ == Form::kGeneral ? general_encodings() : vector_encodings();
    if (!known_) return {};
    const auto found = std::find_if(encodings.begin(), encodings.end(), [&](const Encoding& e) {
      return is_opcode(e, opcode) && has_modrm_of(e);
    });
    if (found == encodings.end()) return {};
    encoding_ = &*found;
    condition_ = kConditions[opcode & 15];
    if (modrm(*found)) read_modrm();
    std::string operands = read_operands(opcode);
    if (!uses_all_prefixes() || !known_) return {};
    std::string text = name();
    if (!operands.empty()) text += " " + operands;
    return {at_, std::move(text)};
  }

 private:
  enum class Form { kGeneral, kVex, kEvex };

  std::uint64_t take(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; i++) {
      if (at_ == code_.size()) {
        known_ = false;
        return 0;
      }
      value |= std::uint64_t{code_[at_++]} << 8 * i;
    }
    return value;
  }
  std::int64_t take_signed(int bytes) {
    if (bytes == 0) return 0;
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(take(static_cast<std::size_t>(bytes)) << unused) >> unused;
  }
  void require(bool condition) { known_ = known_ && condition; }

  void read_prefixes() {
    std::uint64_t byte = take(1);
    if (byte == 0xc5 || byte == 0xc4) return read_vex(byte == 0xc4);
    if (byte == 0x62) return read_evex();
    if (byte == 0x66 || byte == 0xf2 || byte == 0xf3) {
      prefix_ = byte == 0x66 ? 1 : byte == 0xf3 ? 2 : 3;
      byte = take(1);
    }
    if (byte >> 4 == 4) {
      rex_ = true;
      w_ = (byte & 8) != 0;
      reg_high_ = (byte & 4) != 0 ? 8 : 0;
      index_high_ = (byte & 2) != 0 ? 8 : 0;
      rm_high_ = (byte & 1) != 0 ? 8 : 0;
      byte = take(1);
    }
    if (byte == 0x0f) {
      map_ = 1;
      byte = take(1);
    }
    if (known_) at_--;  // the opcode
  }

  void read_vex(bool three_bytes) {
    form_ = Form::kVex;
    map_ = 1;
    std::uint64_t byte = take(1);
    reg_high_ = (byte & 0x80) != 0 ? 0 : 8;
    if (three_bytes) {
      index_high_ = (byte & 0x40) != 0 ? 0 : 8;
      rm_high_ = (byte & 0x20) != 0 ? 0 : 8;
      map_ = static_cast<int>(byte & 0x1f);
      byte = take(1);
      w_ = (byte & 0x80) != 0;
    }
    read_vvvv(byte);
    length_ = (byte & 4) != 0 ? 1 : 0;
  }

  void read_vvvv(std::uint64_t byte) {
    prefix_ = static_cast<int>(byte & 3);
    vvvv_ = static_cast<int>(~byte >> 3 & 15);
  }

  void read_evex() {
    form_ = Form::kEvex;
    const std::uint64_t first = take(1), second = take(1), third = take(1);
    require((first & 8) == 0 && (second & 4) != 0);
    reg_high_ = ((first & 0x80) != 0 ? 0 : 8) | ((first & 0x10) != 0 ? 0 : 16);
    index_high_ = (first & 0x40) != 0 ? 0 : 8;
    rm_high_ = (first & 0x20) != 0 ? 0 : 8;
    map_ = static_cast<int>(first & 7);
    w_ = (second & 0x80) != 0;
    read_vvvv(second);
    vvvv_ |= (third & 8) != 0 ? 0 : 16;
    length_ = static_cast<int>(third >> 5 & 3);
    broadcast_ = (third & 0x10) != 0;
    clears_ = (third & 0x80) != 0;
    mask_ = static_cast<int>(third & 7);
    require(length_ < 3);
  }

  bool is_opcode(const Encoding& e, std::uint8_t opcode) const {
    if (e.map != map_ || opcode < e.opcode || opcode >= e.opcode + e.same) return false;
    const char w = form_ == Form::kEvex ? e.evex_w : e.w;
    if (w == '-' || (w == '0' && w_) || (w == '1' && !w_)) return false;
    // Prefix 66 may give the operand size of general registers.
    const bool sizes = form_ == Form::kGeneral && prefix_ == 1 && w == 'v' && !w_;
    if (e.prefix != prefix_ && !(sizes && e.prefix == 0)) return false;
    return e.length == 'a' || (e.length == 'n' ? length_ > 0 : length_ == e.length - '0');
  }

  static bool contains(const Encoding& e, std::string_view places) {
    return e.operands.find_first_of(places) != std::string_view::npos;
  }
  static bool modrm(const Encoding& e) { return e.extension >= 0 || contains(e, "GVKEWLRUTMX"); }
  bool has_modrm_of(const Encoding& e) const {
    if (!modrm(e)) return true;
    if (at_ == code_.size()) return false;
    const int byte = code_[at_], extension = byte >> 3 & 7;
    if (e.extension >= 0 && e.extension != extension) return false;
    if (e.operands.empty()) return byte == (0xc0 | extension << 3);
    const bool is_register = byte >> 6 == 3;
    return is_register ? !contains(e, "MX") : !contains(e, "RUT");
  }

  int vector_bytes() const { return 16 << length_; }
  int element_bytes() const { return w_ ? 8 : 4; }
  int general_bytes(char size) const {
    const int by_prefix = w_ ? 8 : form_ == Form::kGeneral && prefix_ == 1 ? 2 : 4;
    switch (size) {
      case 'b':
        return 1;
      case 'w':
        return 2;
      case 'd':
        return 4;
      case 'q':
        return 8;
      case 'v':
        return by_prefix;
      case 'z':
        return std::min(by_prefix, 4);
      default:
        return 0;
    }
  }
  /// The size in memory; in a register at least 16.
  int vector_bytes(char size) const {
    switch (size) {
      case 'x':
      case 'y':
        return vector_bytes();
      case 'h':
      case 'g':
        return vector_bytes() / 2;
      case 'k':
        return vector_bytes() / 4;
      case 's':
        return 4;
      case 't':
        return 8;
      case 'e':
        return element_bytes();
      default:
        return 16;
    }
  }
  int memory_bytes(char place, char size) const {
    if (place == 'X' || broadcast_) return element_bytes();
    const bool general = std::string_view("bwdqvzn").find(size) != std::string_view::npos;
    return general ? general_bytes(size) : vector_bytes(size);
  }

  void read_modrm() {
    const auto byte = static_cast<int>(take(1));
    reg_ = byte >> 3 & 7;
    rm_ = byte & 7;
    const int mod = byte >> 6;
    in_memory_ = mod != 3;
    const std::size_t at = encoding_->operands.find_first_of("EWLMX");
    const char place = at == std::string_view::npos ? ' ' : encoding_->operands[at];
    const char size = at == std::string_view::npos ? ' ' : encoding_->operands[at + 1];
    require(!broadcast_ || (in_memory_ && (size == 'y' || size == 'g')));
    if (in_memory_) read_address(mod, place, size);
  }

  void read_address(int mod, char place, char size) {
    std::string base, index;
    bool short_form = mod == 1, long_form = mod == 2;
    require(place != 'X' || rm_ == 4);
    if (rm_ == 4) {
      const auto sib = static_cast<int>(take(1));
      const int scale = sib >> 6, number = (sib >> 3 & 7) | index_high_;
      uses_index_ = uses_rm_ = true;
      if ((sib & 7) == 5 && mod == 0) {
        long_form = true;
        require(rm_high_ == 0);
      } else {
        base = general_name((sib & 7) | rm_high_, 8);
      }
      if (place == 'X') {
        uses_vvvv_high_ = true;
        vector_index_ = number | (vvvv_ & 16);
        index = vector_name(vector_index_, std::max(16, vector_bytes(size)));
      } else if (number != 4) {
        index = general_name(number, 8);
      } else {
        require(scale == 0 && (sib & 7) == 4);  // the only encoding of the base
      }
      if (scale > 0 || base.empty()) index += fmt::format("*{}", 1 << scale);
    } else if (rm_ == 5 && mod == 0) {
      base = "rip";
      long_form = true;
    } else {
      uses_rm_ = true;
      base = general_name(rm_ | rm_high_, 8);
    }
    std::int64_t offset = 0;
    // With EVEX a byte displacement is scaled by the size in memory.
    if (short_form)
      offset = take_signed(1) * (form_ == Form::kEvex ? memory_bytes(place, size) : 1);
    if (long_form) offset = take_signed(4);
    address_ = base + (base.empty() || index.empty() ? "" : "+") + index;
    if (offset < 0) address_ += fmt::format("-{:#x}", -offset);
    if (offset > 0) address_ += fmt::format("+{:#x}", offset);
  }

  std::string read_operands(std::uint8_t opcode) {
    std::string out;
    const std::string_view operands = encoding_->operands;
    for (std::size_t i = 0; i < operands.size(); i += 2) {
      const std::string operand = read_operand(operands[i], operands[i + 1], opcode);
      if (operands[i] == 'P') continue;
      if (i > 0) out += ", ";
      out += operand;
      if (i == 0 && mask_ != 0) out += fmt::format("{{k{}}}{}", mask_, clears_ ? "{z}" : "");
    }
    return out;
  }

  std::string read_operand(char place, char size, std::uint8_t opcode) {
    switch (place) {
      case 'G':
        uses_reg_ = true;
        return general(reg_ | reg_high_, general_bytes(size));
      case 'V':
        uses_reg_ = true;
        return vector_name(reg_ | reg_high_, std::max(16, vector_bytes(size)));
      case 'K':
        return fmt::format("k{}", reg_);
      case 'H':
        uses_vvvv_ = true;
        return vector_name(vvvv_, std::max(16, vector_bytes(size)));
      case 'B':
        uses_vvvv_ = true;
        return general(vvvv_, general_bytes(size));
      case 'Q':
        uses_vvvv_ = true;
        require(vvvv_ < 8);
        return fmt::format("k{}", vvvv_);
      case 'Z':
        uses_rm_ = true;
        return general((opcode & 7) | rm_high_, general_bytes(size));
      case 'A':
        return general(0, general_bytes(size));
      case 'C':
        return "cl";
      case 'O':
        return "1";
      default:
        return place == 'I' || place == 'S' || place == 'P' || place == 'F' || place == 'J'
                   ? read_number(place, size)
                   : read_other(place, size);
    }
  }

  /// The operand that ModRM encodes and that may be memory.
  std::string read_other(char place, char size) {
    if (in_memory_) {
      std::string text = fmt::format("{}[{}]", size_name(memory_bytes(place, size)), address_);
      if (broadcast_) text += fmt::format("{{1to{}}}", vector_bytes(size) / element_bytes());
      return text;
    }
    if (place == 'L' || place == 'T') return fmt::format("k{}", rm_);
    uses_rm_ = true;
    if (place == 'E' || place == 'R') return general(rm_ | rm_high_, general_bytes(size));
    int number = rm_ | rm_high_;
    if (form_ == Form::kEvex) {
      uses_index_ = true;
      number |= index_high_ << 1;
    }
    return vector_name(number, std::max(16, vector_bytes(size)));
  }

  std::string read_number(char place, char size) {
    const int bytes = general_bytes(size);
    const std::int64_t value = take_signed(bytes);
    switch (place) {
      case 'I': {
        const int unused = 64 - 8 * general_bytes(encoding_->operands[1]);
        return fmt::format("{:#x}", static_cast<std::uint64_t>(value) << unused >> unused);
      }
      case 'S':
        return fmt::format("{:#x}", static_cast<std::uint64_t>(value) & 0xff);
      case 'P': {
        const bool integers = encoding_->name.substr(0, 2) == "vp";
        require(value >= 0 && value < (integers ? 8 : form_ == Form::kGeneral ? 0 : 32));
        require(!integers || (value & 3) != 3);
        condition_ = kFloatConditions[value & 31];
        return {};
      }
      case 'F':
        require((value & 15) == 0);
        return vector_name(static_cast<int>(value >> 4 & 15), vector_bytes());
      default: {
        const std::int64_t target = static_cast<std::int64_t>(offset_ + at_) + value;
        require(target >= 0);
        return fmt::format("{:#08x}", target);
      }
    }
  }

  std::string general(int number, int bytes) {
    require(number < 16);
    // Without REX these encode the second bytes of registers.
    if (bytes == 1 && number >= 4 && number < 8) {
      require(rex_);
      uses_rex_ = true;
    }
    return general_name(number & 15, bytes);
  }

  /// An ignored bit makes it another encoding, which other decoders report.
  bool uses_all_prefixes() const {
    const bool rex_says = w_ || reg_high_ != 0 || index_high_ != 0 || rm_high_ != 0 || uses_rex_;
    if (rex_ && !rex_says) return false;
    if ((reg_high_ != 0 && !uses_reg_) || (index_high_ != 0 && !uses_index_) ||
        (rm_high_ != 0 && !uses_rm_))
      return false;
    if (!uses_vvvv_ && ((vvvv_ & 15) != 0 || (vvvv_ >= 16 && !uses_vvvv_high_))) return false;
    return has_fitting_mask() && gathers_apart();
  }

  /// The destination, the index and the mask of a gather may not share a register.
  bool gathers_apart() const {
    if (!contains(*encoding_, "X") || encoding_->operands[0] != 'V') return true;
    const int to = reg_ | reg_high_;
    return to != vector_index_ && (!uses_vvvv_ || (vvvv_ != to && vvvv_ != vector_index_));
  }

  bool has_fitting_mask() const {
    if (form_ != Form::kEvex) return true;
    const bool to_memory = encoding_->operands[0] == 'X' ||
                           (in_memory_ && std::string_view("WME").find(encoding_->operands[0]) !=
                                              std::string_view::npos);
    if (contains(*encoding_, "X") && mask_ == 0) return false;
    if (clears_ && (mask_ == 0 || to_memory || contains(*encoding_, "KX"))) return false;
    return true;
  }

  std::string name() const {
    std::string out;
    for (const char c : encoding_->name) {
      if (c == '?')
        out += condition_;
      else if (c == '#')
        out += w_ ? 'q' : 'd';
      else if (c == '%')
        out += w_ ? 'd' : 's';
      else
        out += c;
    }
    return out;
  }

  std::span<const std::uint8_t> code_;
  std::size_t offset_, at_ = 0;
  bool known_ = true;
  Form form_ = Form::kGeneral;
  int prefix_ = 0, map_ = 0, length_ = 0, mask_ = 0, vvvv_ = 0;
  bool rex_ = false, w_ = false, broadcast_ = false, clears_ = false;
  int reg_high_ = 0, index_high_ = 0, rm_high_ = 0;
  bool uses_rex_ = false, uses_reg_ = false, uses_index_ = false, uses_rm_ = false;
  bool uses_vvvv_ = false, uses_vvvv_high_ = false;
  const Encoding* encoding_ = nullptr;
  int reg_ = 0, rm_ = 0, vector_index_ = 0;
  bool in_memory_ = false;
  std::string address_;
  std::string_view condition_;
};

}  // namespace

Decoded decode(std::span<const std::uint8_t> code, std::size_t offset) {
  return Decoder(code, offset).run();
}

}  // namespace rondo::native_code::x86
