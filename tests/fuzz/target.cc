// A libFuzzer program for the reader RONDO_FUZZ_READER of tests/fuzz/readers.h.
#include <cstddef>
#include <cstdint>

#include "fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  for (const rondo::fuzz::Reader& reader : rondo::fuzz::kReaders) {
    if (reader.name == RONDO_FUZZ_READER)
      rondo::fuzz::reads(reader, {reinterpret_cast<const char*>(bytes), size});
  }
  return 0;
}
