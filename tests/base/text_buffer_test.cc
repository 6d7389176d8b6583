#include "base/text_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rondo {
namespace {

std::string count_text(std::uint64_t number) {
  char text[2 * TextCursor::kCountBytes];
  TextCursor cursor(text);
  cursor += '~';
  cursor.append_count(number);
  return {text, cursor.at()};
}

TEST(TextCursor, WritesCountsAsTheStandardLibraryDoes) {
  std::vector<std::uint64_t> numbers = {std::numeric_limits<std::uint32_t>::max(),
                                        std::numeric_limits<std::uint64_t>::max()};
  for (std::uint64_t number = 0; number < 20'000; number++) numbers.push_back(number);
  for (std::uint64_t power = 10; power < 1'000'000'000'000; power *= 10) {
    for (const std::uint64_t near : {power - 1, power, power + 1, 7 * power - 3, 9 * power})
      numbers.push_back(near);
  }
  for (std::uint64_t i = 0, number = 1; i < 10'000; i++) {
    number = number * 6364136223846793005u + 1442695040888963407u;
    numbers.push_back(number >> 37);  // up to 2^27, which has nine digits
  }
  for (const std::uint64_t number : numbers)
    ASSERT_EQ(count_text(number), '~' + std::to_string(number));
}

TEST(TextCursor, WritesPiecesOfAnySize) {
  std::string letters;
  for (int i = 0; i < 100; i++) letters += static_cast<char>('!' + i % 90);
  for (std::size_t size = 0; size <= letters.size(); size++) {
    const std::string_view piece = std::string_view(letters).substr(0, size);
    std::string text(size + 2, '~');
    TextCursor cursor(text.data() + 1);
    cursor += piece;
    EXPECT_EQ(cursor.at(), text.data() + 1 + size);
    EXPECT_EQ(text, "~" + std::string(piece) + "~");
  }
}

TEST(TextCursor, WritesSpaces) {
  for (std::size_t count = 0; count <= 100; count++) {
    std::string text(count + 17, '~');
    TextCursor cursor(text.data());
    cursor.append_spaces(count);
    cursor += '.';
    EXPECT_EQ(std::string_view(text.data(), count + 1), std::string(count, ' ') + '.');
    EXPECT_EQ(cursor.at(), text.data() + count + 1);
  }
}

TEST(TextBuffer, KeepsTheOrderOfPiecesAndCursors) {
  std::string out = "start ", expected = out;
  {
    TextBuffer buffer(out);
    for (std::uint64_t i = 0; i < 2000; i++) {
      if (i % 3 == 0) {
        const std::string piece(i % 97, 'x');
        buffer += piece;
        expected += piece;
      } else if (i % 3 == 1) {
        buffer.append_count(i);
        expected += std::to_string(i);
      } else {
        TextCursor cursor = buffer.room(TextCursor::kCountBytes + 1);
        cursor.append_count(i);
        cursor += ',';
        buffer.wrote(cursor);
        expected += std::to_string(i) + ',';
      }
    }
    TextCursor whole = buffer.room(TextBuffer::kMostRoom);
    whole += std::string(TextBuffer::kMostRoom, 'w');
    buffer.wrote(whole);
    buffer += '.';
    expected += std::string(TextBuffer::kMostRoom, 'w') + '.';
  }
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace rondo
