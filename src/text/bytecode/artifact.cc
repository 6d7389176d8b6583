#include "text/bytecode/artifact.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "text/bytecode/container.h"
#include "text/bytecode/vhlo.h"

namespace rondo::text::bytecode {

namespace {

/// Regions within each other; more is an error. The reader of the text allows as many.
constexpr int kMostNestedRegions = 100;

/// Attributes that say nothing about results, or repeat what types say.
constexpr std::string_view kIgnored[] = {
    "api_version",     "arg_attrs",       "called_computations",    "function_type",
    "has_side_effect", "operand_layouts", "output_operand_aliases", "res_attrs",
    "result_accuracy", "result_layouts",  "result_tilings",         "sym_visibility"};

/// The body of a function or of a region as text.
class ArtifactPrinter {
 public:
  explicit ArtifactPrinter(const Container& file) : file_(file), entries_(file) {}

  std::string text() {
    Bytes data = file_.program;
    spaces_.emplace_back();
    print_block(data);
    data.expect_end("the program");
    return std::move(out_);
  }

 private:
  struct Value {
    std::string name;  // with `%`
    std::size_t type = 0;
  };
  /// The values of one numbering. A region reserves the numbers of all its values when it begins.
  struct Space {
    std::vector<Value> values;
    std::size_t next = 0, end = 0;  // of the innermost region
  };

  Space& space() { return spaces_.back(); }
  void define(Bytes& data, std::string name, std::size_t type) {
    if (space().next == space().end) data.fail("a region has more values than it reserves");
    space().values[space().next++] = {std::move(name), type};
  }
  const Value& value(Bytes& data, std::size_t number) {
    const Value& found = space().values[data.checked(number, space().values.size(), "value")];
    if (found.name.empty()) data.fail(fmt::format("value {} is used before it is defined", number));
    return found;
  }

  /// One block, without its count. Its arguments and the results in it take the next numbers.
  void print_block(Bytes& data) {
    if (++nested_ > kMostNestedRegions)
      data.fail(fmt::format("regions are nested deeper than {}", kMostNestedRegions));
    const auto [ops, has_arguments] = data.flagged();
    if (ops > data.left()) data.fail(fmt::format("{} operations in {} bytes", ops, data.left()));
    if (has_arguments) print_arguments(data);
    for (std::uint64_t i = 0; i < ops; i++) print_operation(data);
    nested_--;
  }

  void print_arguments(Bytes& data) {
    const std::size_t count = data.count();
    out_ += "^bb0(";
    for (std::size_t i = 0; i < count; i++) {
      std::uint64_t type = 0, location = 0;
      bool has_location = true;
      if (file_.version >= 4) {
        std::tie(type, has_location) = pair_of(data.flagged());
      } else {
        type = data.varint();
      }
      if (has_location) location = data.varint();
      const std::string& text = entries_.type(static_cast<std::size_t>(type));
      std::string name = has_location ? argument_name(static_cast<std::size_t>(location)) : "";
      if (name.empty()) name = next_name();
      out_ += fmt::format("{}{}: {}", i > 0 ? ", " : "", name, text);
      define(data, std::move(name), static_cast<std::size_t>(type));
    }
    if (file_.version >= 3 && data.byte() != 0) skip_use_lists(data, count);
    out_ += "):\n";
  }
  static std::pair<std::uint64_t, bool> pair_of(Bytes::Flagged flagged) {
    return {flagged.value, flagged.flag};
  }

  std::string next_name() { return fmt::format("%{}", next_++); }
  /// That of the user's argument, if it can be written and is new.
  std::string argument_name(std::size_t location) {
    const std::string_view name = entries_.name_in_location(location);
    const bool fits = !name.empty() && (name[0] < '0' || name[0] > '9') &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '_';
                      });
    if (!fits || !names_.insert(std::string(name)).second) return {};
    return fmt::format("%{}", name);
  }

  /// The orders of uses, which say nothing about results.
  static void skip_use_lists(Bytes& data, std::size_t values) {
    const std::size_t entries = values == 1 ? 1 : data.count();
    for (std::size_t i = 0; i < entries; i++) {
      if (values != 1) data.varint();
      const auto [count, pairs] = data.flagged();
      for (std::uint64_t k = 0; k < count; k++) {
        data.varint();
        if (pairs && data.left() == 0) data.fail("the order of uses ends too early");
      }
    }
  }

  void print_operation(Bytes& data) {
    const OpName& op = file_.ops[data.index(file_.ops.size(), "operation")];
    const std::uint8_t mask = data.byte();
    if ((mask & 0x80u) != 0) data.fail("an unknown part of an operation");
    data.varint();  // the location
    std::optional<std::size_t> dictionary, properties;
    if ((mask & 0x01u) != 0) dictionary = static_cast<std::size_t>(data.varint());
    if ((mask & 0x40u) != 0) properties = data.index(file_.properties.size(), "properties");
    std::vector<std::size_t> types, operands;
    if ((mask & 0x02u) != 0) types = indices(data);
    if ((mask & 0x04u) != 0) operands = indices(data);
    if ((mask & 0x08u) != 0) data.fail("successors are not supported");
    if ((mask & 0x20u) != 0) skip_use_lists(data, types.size());
    std::uint64_t regions = 0;
    bool isolated = false;
    if ((mask & 0x10u) != 0) std::tie(regions, isolated) = pair_of(data.flagged());
    if (regions > data.left())
      data.fail(fmt::format("{} regions in {} bytes", regions, data.left()));

    if (op.dialect == "builtin" && op.name == "module") {
      print_regions(data, regions, isolated, false);
    } else if (op.name == "unrealized_conversion_cast" || op.name == "sharding_constraint" ||
               op.name == "reshard" || op.name == "propagation_barrier") {
      if (operands.size() != 1 || types.size() != 1 || regions != 0)
        data.fail(fmt::format("{}.{} with {} operands", op.dialect, op.name, operands.size()));
      define(data, value(data, operands[0]).name, types[0]);
    } else if (op.dialect == "sdy" && op.name == "mesh") {
      return;
    } else if (op.dialect == "vhlo") {
      print_vhlo(data, op.name, dictionary, properties, types, operands, regions, isolated);
    } else {
      data.fail(fmt::format(
          "{}.{} (written by {}) is not supported\n  Save the program with jax.export, or as text.",
          op.dialect, op.name, file_.producer));
    }
  }

  static std::vector<std::size_t> indices(Bytes& data) {
    std::vector<std::size_t> list(data.count());
    for (std::size_t& index : list) index = static_cast<std::size_t>(data.varint());
    return list;
  }

  void print_vhlo(Bytes& data, std::string_view versioned, std::optional<std::size_t> dictionary,
                  std::optional<std::size_t> properties, const std::vector<std::size_t>& types,
                  const std::vector<std::size_t>& operands, std::uint64_t regions, bool isolated) {
    const auto names = property_names(versioned);
    if (!names)
      data.fail(fmt::format("vhlo.{} (written by {}) is unknown\n  Export for an older target.",
                            versioned, file_.producer));
    const std::string_view name = versioned.substr(0, versioned.rfind("_v"));
    const bool is_function = name == "func";
    std::string inputs, input_types;
    for (std::size_t i = 0; i < operands.size(); i++) {
      const Value& operand = value(data, operands[i]);
      inputs += (i > 0 ? ", " : "") + operand.name;
      input_types += (i > 0 ? ", " : "") + entries_.type(operand.type);
    }

    // Results are numbered before the regions, and written in front.
    if (!types.empty()) {
      const std::string result = next_name();
      out_ += result;
      if (types.size() > 1) out_ += fmt::format(":{}", types.size());
      out_ += " = ";
      for (std::size_t i = 0; i < types.size(); i++)
        define(data, types.size() > 1 ? fmt::format("{}#{}", result, i) : result, types[i]);
    }
    out_ += fmt::format("\"{}.{}\"({})", is_function || name == "call" ? "func" : "stablehlo", name,
                        inputs);
    print_attributes(data, name, *names, dictionary, properties);
    if (regions > 0) {
      out_ += " (";
      print_regions(data, regions, isolated, true);
      out_ += ')';
    }
    out_ += fmt::format(" : ({}) -> (", input_types);
    for (std::size_t i = 0; i < types.size(); i++)
      out_ += (i > 0 ? ", " : "") + entries_.type(types[i]);
    out_ += ")\n";
  }

  void print_regions(Bytes& data, std::uint64_t count, bool isolated, bool in_braces) {
    if (isolated) spaces_.emplace_back();
    std::optional<Bytes> own;
    if (isolated && file_.version >= 2 && count > 0) {
      const Section section = read_section(data);
      own = section.data;
    }
    Bytes& from = own ? *own : data;
    for (std::uint64_t i = 0; i < count; i++) {
      if (in_braces) out_ += i > 0 ? ", {\n" : "{\n";
      Space& numbers = space();
      const std::size_t outside = numbers.values.size();
      const std::size_t next = numbers.next, end = numbers.end;
      const std::uint64_t blocks = from.varint();
      if (blocks > 1) from.fail("regions of several blocks are not supported");
      if (blocks == 1) {
        const std::size_t values = from.count();
        numbers.values.resize(outside + values);
        numbers.next = outside;
        numbers.end = outside + values;
        print_block(from);
      }
      space().values.resize(outside);
      space().next = next;
      space().end = end;
      if (in_braces) out_ += '}';
    }
    if (own) own->expect_end("a region");
    if (isolated) spaces_.pop_back();
  }

  void print_attributes(Bytes& data, std::string_view op,
                        const std::vector<std::string_view>& names,
                        std::optional<std::size_t> dictionary,
                        std::optional<std::size_t> properties) {
    std::vector<Entries::Named> attributes;
    if (file_.version >= 5) {
      if (properties) {
        Bytes values = file_.properties[*properties];
        for (const std::string_view name : names)
          attributes.push_back({name, static_cast<std::size_t>(values.varint())});
        values.expect_end("the properties of an operation");
      } else if (!names.empty()) {
        data.fail("the properties of an operation are missing");
      }
      // What JAX gives to a C++ function is no property.
      if (op == "custom_call" && dictionary) {
        for (const Entries::Named& named : entries_.dictionary(*dictionary))
          if (named.name == "mhlo.backend_config") attributes.push_back(named);
      }
    } else if (dictionary) {
      for (const Entries::Named& named : entries_.dictionary(*dictionary)) {
        if (std::find(names.begin(), names.end(), named.name) != names.end())
          attributes.push_back(named);
      }
    }
    std::string text, labels[3];
    for (const auto& [name, value] : attributes) {
      if (std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored)) continue;
      if (is_axis_of_convolution(name)) continue;
      const bool is_symbol = name == "callee" || name == "decomposition";
      const std::optional<std::string> shown = entries_.attribute(value);
      if (!shown) continue;
      text +=
          (text.empty() ? "" : ", ") + std::string(name) + " = " + (is_symbol ? "@" : "") + *shown;
    }
    if (op == "convolution")
      text += (text.empty() ? "" : ", ") + axes_of_convolution(attributes, data);
    if (!text.empty()) out_ += fmt::format(" <{{{}}}>", text);
  }

  static bool is_axis_of_convolution(std::string_view name) {
    for (const std::string_view part : {"input_", "kernel_", "output_"}) {
      if (name.substr(0, part.size()) == part && name.find("dimension") != name.npos) return true;
    }
    return false;
  }

  /// `dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>` of the nine attributes.
  std::string axes_of_convolution(const std::vector<Entries::Named>& attributes, Bytes& data) {
    struct Side {
      std::string_view first, second, spatial;
      char first_letter, second_letter;
    };
    constexpr Side kSides[] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", 'b', 'f'},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions", 'i', 'o'},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", 'b',
         'f'}};
    std::string text = "dimension_numbers = #stablehlo.conv<";
    for (std::size_t side = 0; side < 3; side++) {
      const auto [first, second, spatial, first_letter, second_letter] = kSides[side];
      const std::vector<std::int64_t> axes = axes_of(attributes, spatial, data);
      std::vector<std::string> labels(axes.size() + 2);
      const auto set = [&](std::int64_t axis, std::string label) {
        if (axis < 0 || static_cast<std::size_t>(axis) >= labels.size())
          data.fail(fmt::format("axis {} of a convolution", axis));
        labels[static_cast<std::size_t>(axis)] = std::move(label);
      };
      for (const auto& [name, letter] : {std::pair(first, first_letter), {second, second_letter}}) {
        const std::vector<std::int64_t> axis = axes_of(attributes, name, data);
        if (axis.size() != 1) data.fail(fmt::format("{} is not one axis", name));
        set(axis[0], std::string(1, letter));
      }
      for (std::size_t i = 0; i < axes.size(); i++) set(axes[i], std::to_string(i));
      text += side == 0 ? "[" : side == 1 ? "]x[" : "]->[";
      for (std::size_t i = 0; i < labels.size(); i++) text += (i > 0 ? ", " : "") + labels[i];
    }
    return text + "]>";
  }
  std::vector<std::int64_t> axes_of(const std::vector<Entries::Named>& attributes,
                                    std::string_view name, Bytes& data) {
    for (const Entries::Named& named : attributes) {
      if (named.name == name) return entries_.integers(named.value);
    }
    data.fail(fmt::format("`{}` of a convolution is missing", name));
  }

  const Container& file_;
  Entries entries_;
  std::string out_;
  std::vector<Space> spaces_;
  absl::flat_hash_set<std::string> names_;
  std::size_t next_ = 0;
  int nested_ = 0;
};

/// The bytes of the program in what Exported.serialize() writes, a flatbuffer; nothing if it is
/// none.
std::optional<std::string_view> program_in_export(std::string_view file) {
  constexpr std::size_t kProgramField = 13;
  const auto number = [&](std::size_t at, std::size_t width) -> std::optional<std::uint32_t> {
    if (at > file.size() || file.size() - at < width) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; i++)
      value |= std::uint32_t{static_cast<std::uint8_t>(file[at + i])} << (8 * i);
    return value;
  };
  const auto root = number(0, 4);
  const auto back = root ? number(*root, 4) : std::nullopt;
  if (!back) return std::nullopt;
  const std::int64_t table = std::int64_t{*root} - static_cast<std::int32_t>(*back);
  if (table < 0) return std::nullopt;
  const auto size = number(static_cast<std::size_t>(table), 2);
  const std::size_t slot = 4 + 2 * kProgramField;
  if (!size || *size < slot + 2) return std::nullopt;
  const auto offset = number(static_cast<std::size_t>(table) + slot, 2);
  if (!offset || *offset == 0) return std::nullopt;
  const std::size_t field = std::size_t{*root} + *offset;
  const auto vector = number(field, 4);
  const auto length = vector ? number(field + *vector, 4) : std::nullopt;
  if (!length || file.size() - (field + *vector + 4) < *length) return std::nullopt;
  const std::string_view program = file.substr(field + *vector + 4, *length);
  if (program.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  return program;
}

}  // namespace

bool is_artifact(std::string_view file) {
  return file.substr(0, kMagic.size()) == kMagic || program_in_export(file).has_value();
}

std::string artifact_text(std::string_view file) {
  if (const auto program = program_in_export(file);
      file.substr(0, kMagic.size()) != kMagic && program)
    file = *program;
  const Container container = read_container(file);
  return ArtifactPrinter(container).text();
}

}  // namespace rondo::text::bytecode
