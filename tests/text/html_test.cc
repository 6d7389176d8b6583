// The page of a program: what is embedded in it, compared with the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ir/node.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Json;
using List = std::vector<Json>;
using Map = std::map<std::string, Json>;
struct Json {
  std::variant<double, std::string, List, Map> value;
  const Json& operator[](const std::string& key) const { return std::get<Map>(value).at(key); }
  const Json& operator[](std::size_t i) const { return std::get<List>(value).at(i); }
  std::size_t size() const { return std::get<List>(value).size(); }
  const std::string& text() const { return std::get<std::string>(value); }
  std::size_t number() const { return static_cast<std::size_t>(std::get<double>(value)); }
  bool is_text() const { return value.index() == 1; }
  bool is_list() const { return value.index() == 2; }
};

/// JSON as to_html writes it: no escapes but \u00xx, no true, false or null.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}
  Json all() {
    Json json = next();
    EXPECT_EQ(at_, text_.size());
    return json;
  }

 private:
  char peek() {
    while (text_.at(at_) == '\n') at_++;
    return text_[at_];
  }
  bool ends(char end) {
    if (peek() == ',') at_++;
    if (peek() != end) return false;
    at_++;
    return true;
  }
  std::string string() {
    EXPECT_EQ(peek(), '"');
    std::string out;
    for (at_++; text_.at(at_) != '"'; at_++) {
      if (text_[at_] == '\\') {
        EXPECT_EQ(text_.substr(at_, 4), "\\u00");
        out += static_cast<char>(std::stoi(std::string(text_.substr(at_ + 4, 2)), nullptr, 16));
        at_ += 5;
      } else {
        out += text_[at_];
      }
    }
    at_++;
    return out;
  }
  Json next() {
    if (peek() == '"') return {string()};
    if (peek() == '[') {
      List list;
      for (at_++; !ends(']');) list.push_back(next());
      return {list};
    }
    if (peek() == '{') {
      Map map;
      for (at_++; !ends('}');) {
        const std::string key = string();
        EXPECT_EQ(text_.at(at_++), ':');
        map[key] = next();
      }
      return {map};
    }
    const std::size_t end = text_.find_first_of(",]}\n", at_);
    const double number = std::stod(std::string(text_.substr(at_, end - at_)));
    at_ = end;
    return {number};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json program_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"program\">";
  const std::size_t first = page.find(begin) + begin.size();
  return JsonReader(std::string_view(page).substr(first, page.find("</script>", first) - first))
      .all();
}

bool is_short(const ir::Node& node) {
  return ir::is_constant(&node) && node.type().elements() <= 4;
}

/// Compares function `number` of the page with the function.
void expect_same(const Json& page, std::size_t number, const Function& function) {
  const Json& shown = page["functions"][number];
  const std::vector<TensorType> types = function.params();
  ASSERT_EQ(shown["params"].size(), types.size());
  for (std::size_t i = 0; i < types.size(); i++)
    EXPECT_EQ(page["types"][shown["params"][i][1].number()].text(), types[i].str());
  std::map<const ir::Node*, std::int64_t> places;
  for (std::size_t i = 0; i < types.size(); i++)
    places[function.parameters()[i].node()] = -1 - static_cast<std::int64_t>(i);
  const auto expect_value = [&](const Json& value, const Tensor& tensor) {
    if (is_short(*tensor.node())) {
      EXPECT_TRUE(value.is_text());
    } else {
      const Json& place = value.is_list() ? value[0] : value;
      EXPECT_EQ(std::get<double>(place.value), static_cast<double>(places.at(tensor.node())));
      EXPECT_EQ(value.is_list(), tensor.node()->types.size() > 1);
      if (value.is_list()) {
        EXPECT_EQ(value[1].number(), tensor.result());
      }
    }
  };
  std::size_t next = 0;
  for (const ir::Node* node : function.body()) {
    if (is_short(*node)) continue;
    places[node] = static_cast<std::int64_t>(next);
    const Json& row = shown["nodes"][next++];
    EXPECT_EQ(page["ops"][row[0].number()].text(), node->op->name);
    ASSERT_EQ(row[2].size(), node->types.size());
    for (std::size_t i = 0; i < node->types.size(); i++)
      EXPECT_EQ(page["types"][row[2][i].number()].text(), node->types[i].str());
    ASSERT_EQ(row[3].size(), node->operands.size());
    for (std::size_t i = 0; i < node->operands.size(); i++)
      expect_value(row[3][i], node->operands[i]);
    EXPECT_EQ(page["places"][row[5].number()].text(), node->location().str());
    ASSERT_EQ(row.size() > 6, !node->regions.empty());
    for (std::size_t i = 0; i < node->regions.size(); i++)
      expect_same(page, row[8][i][0].number(), node->regions[i]);
  }
  EXPECT_EQ(shown["nodes"].size(), next);
  ASSERT_EQ(shown["results"].size(), function.outputs().size());
  for (std::size_t i = 0; i < function.outputs().size(); i++)
    expect_value(shown["results"][i], function.outputs()[i]);
}

TEST(Html, HasTheWholeProgram) {
  const Function program = trace(
      [](Tensor x, Tensor n) {
        const Tensor table = constant(std::vector<float>{1, 2, 3, 4, 5, 6}, Shape({6}));
        const Tensor sum = fori_loop(
            0, n,
            [&](Tensor i, Tensor s) {
              return cond(
                  i % 2 == 0, [&](Tensor a) { return a + take(table, i, 0); },
                  [](Tensor a) { return checkpoint([](Tensor b) { return sin(b); })(a); }, s);
            },
            x, {.name = "fit"});
        const auto [values, places] = top_k(table * sum, 2);
        return std::pair(
            rondo::reduce(values, Tensor(1.0f), {0}, [](Tensor a, Tensor b) { return a * b; }),
            places);
      },
      f32(), s32());
  const Json page = program_of(to_html(program, {.title = "a title"}));
  EXPECT_EQ(page["title"].text(), "a title");
  expect_same(page, 0, program);
  bool has_loop = false;
  for (const Json& row : std::get<List>(page["functions"][0]["nodes"].value))
    has_loop |= row.size() > 6 && row[6].text() == "loop" && row[7].text() == "fit";
  EXPECT_TRUE(has_loop);
}

TEST(Html, EscapesEveryText) {
  const std::string nasty = "</script><script>alert(1)</script>\"'&\\\n";
  const Function program = trace(
      [&](Tensor x) {
        return while_loop([](Tensor y) { return y < 3; }, [](Tensor y) { return y + 1; }, x,
                          {.name = nasty});
      },
      f32());
  const std::string page = to_html(program, {.title = nasty});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</")));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  const Json read = program_of(page);
  EXPECT_EQ(read["title"].text(), nasty);
  EXPECT_EQ(read["functions"][0]["nodes"][0][7].text(), nasty);
}

TEST(Html, LoadsNothing) {
  const std::string page = to_html(trace([](Tensor x) { return x + x; }, f32()));
  for (const char* loaded : {"http:", "https:", "src=", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(loaded)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Html, HasTheRowsOfAProfile) {
  const auto body = [](Tensor, Tensor s) {
    return fori_loop(0, 3, [](Tensor, Tensor t) { return sin(t) + 1.0f; }, s, {.name = "inner"});
  };
  const Function f =
      trace([&](Tensor x) { return fori_loop(0, 4, body, x, {.name = "<outer>"}); }, f32());
  Profile profile;
  compile(f).run({Literal::scalar(0.5f)}, {.profile = &profile});
  const Json page = program_of(to_html(f, {.profile = &profile}));
  // Between those of the loops, the reference has rows of kernels.
  List rows = std::get<List>(page["profile"]["rows"].value);
  std::erase_if(rows, [](const Json& row) { return row[1].text() != "loop"; });
  ASSERT_EQ(rows.size(), 2u);
  // Depth, kind, name, place, share, seconds, trips.
  EXPECT_EQ(rows[0][0].number(), 0u);
  EXPECT_EQ(rows[0][1].text(), "loop");
  EXPECT_EQ(rows[0][2].text(), "<outer>");
  EXPECT_EQ(rows[0][3].text(), profile.loops()[0].location.str());
  EXPECT_EQ(rows[0][6].number(), 4u);
  EXPECT_EQ(rows[1][0].number(), 1u);
  EXPECT_EQ(rows[1][2].text(), "inner");
  EXPECT_EQ(rows[1][6].number(), 12u);
  EXPECT_THAT(to_html(f), Not(HasSubstr("\"profile\":")));
}

}  // namespace
}  // namespace rondo
