#include "native/debug/jit_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

namespace rondo::native_code {

namespace {

enum class Record : std::uint32_t { kLoad = 0, kDebugInfo = 2 };

/// A record's head; its bytes are set when it ends.
std::size_t begin_record(ByteWriter& out, Record kind, const JitDumpStamp& stamp) {
  const std::size_t begin = out.size();
  out.u32(static_cast<std::uint32_t>(kind));
  out.u32(0);
  out.u64(stamp.nanoseconds);
  return begin;
}

void end_record(ByteWriter& out, std::size_t begin) {
  out.set_u32(begin + 4, static_cast<std::uint32_t>(out.size() - begin));
}

/// The lines of a piece; the first one may begin before it.
void write_lines_of(const CodeDescription& code, const CodeDescription::Piece& piece,
                    const JitDumpStamp& stamp, ByteWriter& out) {
  const auto behind = [](std::uint32_t offset, const CodeDescription::Line& line) {
    return offset < line.offset;
  };
  auto first = std::upper_bound(code.lines.begin(), code.lines.end(), piece.begin, behind);
  if (first != code.lines.begin()) --first;
  const auto last = std::upper_bound(first, code.lines.end(), piece.end - 1, behind);
  const auto has_line = [](const CodeDescription::Line& line) { return line.line != 0; };
  const auto lines = std::count_if(first, last, has_line);
  if (lines == 0) return;
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(code.code.data());
  const std::size_t begin = begin_record(out, Record::kDebugInfo, stamp);
  out.u64(address + piece.begin);
  out.u64(static_cast<std::uint64_t>(lines));
  for (; first != last; ++first) {
    if (!has_line(*first)) continue;
    out.u64(address + std::max(first->offset, piece.begin));
    out.u32(first->line);
    out.u32(0);  // discriminator
    out.text(code.files[first->file]);
  }
  end_record(out, begin);
}

}  // namespace

ByteWriter jit_dump_header(const DebugNumbers& numbers, const JitDumpStamp& stamp) {
  constexpr std::uint32_t kMagic = 0x4a695444, kVersion = 1, kBytes = 40;
  ByteWriter out;
  out.u32(kMagic);
  out.u32(kVersion);
  out.u32(kBytes);
  out.u32(numbers.machine);
  out.u32(0);
  out.u32(stamp.process);
  out.u64(stamp.nanoseconds);
  out.u64(0);  // flags
  return out;
}

ByteWriter jit_dump_records(const CodeDescription& description, const JitDumpStamp& stamp,
                            std::uint64_t first_index) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(description.code.data());
  ByteWriter out;
  for (const CodeDescription::Piece& piece : description.pieces) {
    write_lines_of(description, piece, stamp, out);
    const std::size_t begin = begin_record(out, Record::kLoad, stamp);
    out.u32(stamp.process);
    out.u32(stamp.thread);
    out.u64(address + piece.begin);  // while it is written, and while it runs
    out.u64(address + piece.begin);
    out.u64(piece.end - piece.begin);
    out.u64(first_index++);
    out.text(piece.title());
    out.append(description.code.subspan(piece.begin, piece.end - piece.begin));
    end_record(out, begin);
  }
  return out;
}

#if defined(__linux__)

namespace {

JitDumpStamp stamp_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return {static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(syscall(SYS_gettid)),
          static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
              static_cast<std::uint64_t>(now.tv_nsec)};
}

/// The file of this process. After a fork the child has one of its own.
class JitDump {
 public:
  void add(const CodeDescription& description) {
    std::lock_guard lock(mutex_);
    const JitDumpStamp stamp = stamp_now();
    if (process_ != stamp.process) open(description.numbers, stamp);
    if (file_ < 0) return;
    write_all(jit_dump_records(description, stamp, next_index_));
    next_index_ += description.pieces.size();
  }

 private:
  void open(const DebugNumbers& numbers, const JitDumpStamp& stamp) {
    if (file_ >= 0) close(file_);
    process_ = stamp.process;
    next_index_ = 0;
    const char* folder = std::getenv("JITDUMPDIR");
    path_ = fmt::format("{}/jit-{}.dump", folder && *folder ? folder : ".", process_);
    file_ = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) return fail("opened");
    write_all(jit_dump_header(numbers, stamp));
    if (file_ < 0) return;
    // perf finds the file by this mapping, which stays.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_, 0) == MAP_FAILED)
      fail("mapped to be executed, as perf wants it");
  }

  void write_all(const ByteWriter& content) {
    const std::byte* at = content.bytes().data();
    std::size_t left = content.size();
    while (left > 0) {
      const ssize_t written = write(file_, at, left);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail("written");
      at += written;
      left -= static_cast<std::size_t>(written);
    }
  }

  void fail(const char* what) {
    const std::string reason = std::strerror(errno);
    if (file_ >= 0) close(file_);
    file_ = -1;
    const std::string message = fmt::format(
        "rondo: {} cannot be {}: {}; perf will not know the names and lines of loops.\n"
        "  JITDUMPDIR in the environment names another folder.\n",
        path_, what, reason);
    std::fputs(message.c_str(), stderr);
  }

  std::mutex mutex_;
  std::uint32_t process_ = 0;
  int file_ = -1;
  std::string path_;
  std::uint64_t next_index_ = 0;
};

}  // namespace

void add_to_jit_dump(const CodeDescription& description) {
  static auto* const dump = new JitDump;  // programs in static storage may be compiled late
  dump->add(description);
}

#else

void add_to_jit_dump(const CodeDescription&) {}

#endif

}  // namespace rondo::native_code
