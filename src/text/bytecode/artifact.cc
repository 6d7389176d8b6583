#include "text/bytecode/artifact.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "base/number_text.h"
#include "text/bytecode/container.h"
#include "text/bytecode/vhlo.h"

namespace rondo::text::bytecode {

namespace {

using mlir::Attribute;
using mlir::Block;
using mlir::Operation;

/// Regions within each other; more is an error. The reader of texts allows as many.
constexpr int kMostNestedRegions = 100;

/// Attributes that say nothing about results, or repeat what types say.
constexpr std::string_view kIgnored[] = {
    "api_version",     "arg_attrs",       "called_computations",    "function_type",
    "has_side_effect", "operand_layouts", "output_operand_aliases", "res_attrs",
    "result_accuracy", "result_layouts",  "result_tilings",         "sym_visibility"};

bool is_ignored(std::string_view name) {
  return std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored);
}

bool is_axis_of_convolution(std::string_view name) {
  for (const std::string_view part : {"input_", "kernel_", "output_"}) {
    if (name.starts_with(part) && name.find("dimension") != name.npos) return true;
  }
  return false;
}

/// A module and all that it has, as operations.
class ArtifactReader {
 public:
  ArtifactReader(const Container& file, Artifact& artifact)
      : file_(file),
        out_(artifact.listing),
        names_(artifact.names),
        entries_(file, artifact.names),
        ops_(file.ops.size()),
        placed_(file.attributes.size()),
        places_(file.attributes.size()) {}

  mlir::Modules modules() {
    Bytes data = file_.program;
    spaces_.emplace_back();
    Block file;
    read_block(data, false, file);
    data.expect_end("the program");
    return {std::move(modules_), mlir::Locations(std::move(places_))};
  }

 private:
  using Indices = absl::InlinedVector<std::size_t, 4>;

  /// What the reader has to know about an op of the file.
  struct Op {
    enum class Kind : std::uint8_t { kUnknown, kModule, kNothing, kIdentity, kFunction, kOther };
    Kind kind = Kind::kUnknown;
    std::string_view name;  // in StableHLO
    bool is_convolution = false, is_custom_call = false;
    std::vector<std::string_view> properties;
  };
  /// A result of an operation, or a parameter.
  struct Value {
    std::size_t type = 0;
    mlir::ValueId id = 0;
    std::uint32_t element = 0;
    bool is_defined = false;
  };
  /// The values of one numbering. A region reserves the numbers of all its values when it begins.
  struct Space {
    std::vector<Value> values;
    std::size_t next = 0, end = 0;  // of the innermost region
  };

  Space& space() { return spaces_.back(); }
  void define(Bytes& data, Value value) {
    if (space().next == space().end) data.fail("a region has more values than it reserves");
    value.is_defined = true;
    space().values[space().next++] = value;
  }
  const Value& value(Bytes& data, std::size_t number) {
    const Value& found = space().values[data.checked(number, space().values.size(), "value")];
    if (!found.is_defined) data.fail(fmt::format("value {} is used before it is defined", number));
    return found;
  }

  const Op& op_of(Bytes& data) {
    const std::size_t index = data.index(ops_.size(), "operation");
    Op& op = ops_[index];
    if (op.kind != Op::Kind::kUnknown) return op;
    const auto& [dialect, name] = file_.ops[index];
    if (dialect == "builtin" && name == "module") {
      op.kind = Op::Kind::kModule;
    } else if (dialect == "sdy" && name == "mesh") {
      op.kind = Op::Kind::kNothing;
    } else if (name == "unrealized_conversion_cast" || name == "sharding_constraint" ||
               name == "reshard" || name == "propagation_barrier") {
      op.kind = Op::Kind::kIdentity;
    } else if (dialect == "vhlo") {
      auto properties = property_names(name);
      if (!properties)
        data.fail(fmt::format("vhlo.{} (written by {}) is unknown\n  Export for an older target.",
                              name, file_.producer));
      const std::string_view plain = name.substr(0, name.rfind("_v"));
      op.kind = plain == "func" ? Op::Kind::kFunction : Op::Kind::kOther;
      const bool of_functions = plain == "func" || plain == "call";
      op.name =
          names_.emplace_back(fmt::format("{}.{}", of_functions ? "func" : "stablehlo", plain));
      op.is_convolution = plain == "convolution";
      op.is_custom_call = plain == "custom_call";
      op.properties = std::move(*properties);
    } else {
      data.fail(fmt::format(
          "{}.{} (written by {}) is not supported\n  Save the program with jax.export, or as text.",
          dialect, name, file_.producer));
    }
    return op;
  }

  /// One block, without its count. Its parameters and the results in it take the next numbers.
  void read_block(Bytes& data, bool of_function, Block& block) {
    if (++nested_ > kMostNestedRegions)
      data.fail(fmt::format("regions are nested deeper than {}", kMostNestedRegions));
    const auto [ops, has_parameters] = data.flagged();
    if (ops > data.left()) data.fail(fmt::format("{} operations in {} bytes", ops, data.left()));
    if (has_parameters) read_parameters(data, of_function, block);
    for (std::uint64_t i = 0; i < ops; i++) read_operation(data, block);
    nested_--;
  }

  /// Those of a function have names in the user's program.
  void read_parameters(Bytes& data, bool of_function, Block& block) {
    const std::size_t count = data.count();
    block.parameters.reserve(count);
    for (std::size_t i = 0; i < count; i++) {
      std::uint64_t type = 0, location = 0;
      bool has_location = true;
      if (file_.version >= 4) {
        std::tie(type, has_location) = pair_of(data.flagged());
      } else {
        type = data.varint();
      }
      if (has_location) location = data.varint();
      const DecodedType& decoded = entries_.array_type(static_cast<std::size_t>(type));
      std::string_view name;
      if (of_function && has_location)
        name = entries_.name_in_location(static_cast<std::size_t>(location));
      if (name.empty()) name = parameter_name(i);
      block.parameters.push_back({name, next_id_, decoded.array, decoded.details});
      define(data, {static_cast<std::size_t>(type), next_id_++});
    }
    if (file_.version >= 3 && data.byte() != 0) skip_use_lists(data, count);
  }
  static std::pair<std::uint64_t, bool> pair_of(Bytes::Flagged flagged) {
    return {flagged.value, flagged.flag};
  }
  std::string_view parameter_name(std::size_t i) {
    while (parameter_names_.size() <= i)
      parameter_names_.push_back(
          names_.emplace_back(fmt::format("arg{}", parameter_names_.size())));
    return parameter_names_[i];
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

  /// What follows the name of an operation, without its regions.
  struct Head {
    std::size_t location = 0;
    std::optional<std::size_t> dictionary, properties;
    Indices types, operands;
    std::uint64_t regions = 0;
    bool isolated = false;
  };
  Head read_head(Bytes& data) {
    Head head;
    const std::uint8_t mask = data.byte();
    if ((mask & 0x80u) != 0) data.fail("an unknown part of an operation");
    head.location = data.index(file_.attributes.size(), "location");
    if ((mask & 0x01u) != 0) head.dictionary = static_cast<std::size_t>(data.varint());
    if ((mask & 0x40u) != 0) head.properties = data.index(file_.properties.size(), "properties");
    if ((mask & 0x02u) != 0) read_indices(data, head.types);
    if ((mask & 0x04u) != 0) read_indices(data, head.operands);
    if ((mask & 0x08u) != 0) data.fail("successors are not supported");
    if ((mask & 0x20u) != 0) skip_use_lists(data, head.types.size());
    if ((mask & 0x10u) != 0) std::tie(head.regions, head.isolated) = pair_of(data.flagged());
    if (head.regions > data.left())
      data.fail(fmt::format("{} regions in {} bytes", head.regions, data.left()));
    return head;
  }
  static void read_indices(Bytes& data, Indices& list) {
    list.resize(data.count());
    for (std::size_t& index : list) index = static_cast<std::size_t>(data.varint());
  }

  /// Appended to the block, if it is one of StableHLO's.
  void read_operation(Bytes& data, Block& block) {
    const Op& op = op_of(data);
    const Head head = read_head(data);
    switch (op.kind) {
      case Op::Kind::kModule: {
        std::vector<Block> regions;
        read_regions(data, head, false, regions);
        mlir::Module& module = modules_.emplace_back();
        if (!regions.empty()) module.functions = std::move(regions[0].operations);
        return;
      }
      case Op::Kind::kNothing:
        return;
      case Op::Kind::kIdentity: {
        if (head.operands.size() != 1 || head.types.size() != 1 || head.regions != 0)
          data.fail(fmt::format("a cast with {} operands", head.operands.size()));
        Value same = value(data, head.operands[0]);
        same.type = head.types[0];
        define(data, same);
        return;
      }
      case Op::Kind::kFunction: {
        const mlir::ValueId outer = std::exchange(next_id_, 0);
        Operation& function = block.operations.emplace_back();
        read_vhlo(data, op, head, function);
        if (!function.regions.empty()) function.regions[0].ids = next_id_;
        next_id_ = outer;
        return;
      }
      case Op::Kind::kUnknown:
      case Op::Kind::kOther:
        return read_vhlo(data, op, head, block.operations.emplace_back());
    }
  }

  void read_vhlo(Bytes& data, const Op& op, const Head& head, Operation& operation) {
    operation.name = op.name;
    operation.location = place_of(head.location);
    operation.at = out_.size();
    operation.has_operand_types = true;
    for (const std::size_t number : head.operands) {
      const Value& operand = value(data, number);
      operation.operands.push_back({{}, operand.id, operand.element, operation.at});
    }
    if (!head.types.empty()) {
      operation.results.push_back({{}, next_id_, head.types.size()});
      for (std::size_t i = 0; i < head.types.size(); i++) {
        const DecodedType& decoded = entries_.array_type(head.types[i]);
        for (const auto& [of, axis] : unknown_sizes(decoded)) {
          if (!operation.details) operation.details = std::make_shared<mlir::TypeDetails>();
          operation.details->unknown.emplace_back(of + i, axis);
        }
        operation.types.push_back(decoded.array);
        define(data, {head.types[i], next_id_, static_cast<std::uint32_t>(i)});
      }
      next_id_++;
    }
    list(op, head, operation);
    read_attributes(data, op, head, operation);
    read_regions(data, head, op.kind == Op::Kind::kFunction, operation.regions);
  }
  static std::span<const std::pair<std::size_t, std::int64_t>> unknown_sizes(
      const DecodedType& type) {
    if (!type.details) return {};
    return type.details->unknown;
  }

  /// A line for errors: `%3 = stablehlo.add(%1, %2) -> tensor<f32>`.
  void list(const Op& op, const Head& head, const Operation& operation) {
    const auto append_id = [&](mlir::ValueId id) {
      out_ += '%';
      append_number(out_, id);
    };
    if (!operation.results.empty()) {
      append_id(operation.results[0].id);
      out_ += " = ";
    }
    out_ += op.name;
    for (std::size_t i = 0; i < operation.operands.size(); i++) {
      out_ += i == 0 ? "(" : ", ";
      append_id(operation.operands[i].id);
    }
    if (!operation.operands.empty()) out_ += ')';
    for (std::size_t i = 0; i < head.types.size(); i++)
      (out_ += i == 0 ? " -> " : ", ") += entries_.type(head.types[i]).text;
    out_ += '\n';
  }

  /// The number of its place among those of operations.
  mlir::Offset place_of(std::size_t location) {
    if (!placed_[location]) {
      placed_[location] = true;
      places_[location] = entries_.place(location);
    }
    return location;
  }

  /// Functions see nothing from outside.
  void read_regions(Bytes& data, const Head& head, bool is_function, std::vector<Block>& regions) {
    if (head.regions == 0) return;
    const bool isolated = head.isolated || is_function;
    if (isolated) spaces_.emplace_back();
    std::optional<Bytes> own;
    if (head.isolated && file_.version >= 2) own = read_section(data).data;
    Bytes& from = own ? *own : data;
    regions.resize(static_cast<std::size_t>(head.regions));
    for (Block& region : regions) {
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
        read_block(from, is_function, region);
      }
      space().values.resize(outside);
      space().next = next;
      space().end = end;
    }
    if (own) own->expect_end("a region");
    if (isolated) spaces_.pop_back();
  }

  /// Operations of one op with the same properties, or the same dictionary, share them.
  void read_attributes(Bytes& data, const Op& op, const Head& head, Operation& operation) {
    if (!head.properties && !head.dictionary && op.properties.empty()) return;
    const std::pair key{&op, std::pair(head.properties, head.dictionary)};
    const auto [known, is_new] = lists_.try_emplace(key);
    auto& [list, at] = known->second;
    if (is_new) {
      decode_attributes(data, op, head, operation);
      list = operation.attributes;
      at = operation.at;
    }
    operation.attributes = list.moved(at, operation.at);
  }

  void decode_attributes(Bytes& data, const Op& op, const Head& head, Operation& operation) {
    attributes_.clear();
    if (file_.version >= 5) {
      if (head.properties) {
        Bytes values = file_.properties[*head.properties];
        for (const std::string_view name : op.properties)
          attributes_.push_back({name, static_cast<std::size_t>(values.varint())});
        values.expect_end("the properties of an operation");
      } else if (!op.properties.empty()) {
        data.fail("the properties of an operation are missing");
      }
      // What JAX gives to a C++ function is no property.
      if (op.is_custom_call && head.dictionary) {
        for (const Entries::Named& named : entries_.dictionary(*head.dictionary))
          if (named.name == "mhlo.backend_config") attributes_.push_back(named);
      }
    } else if (head.dictionary) {
      for (const Entries::Named& named : entries_.dictionary(*head.dictionary)) {
        if (std::find(op.properties.begin(), op.properties.end(), named.name) !=
            op.properties.end())
          attributes_.push_back(named);
      }
    }
    std::vector<mlir::Entry>& entries = operation.attributes.own();
    entries.reserve(attributes_.size());
    for (const auto& [name, index] : attributes_) {
      if (is_ignored(name) || is_axis_of_convolution(name)) continue;
      const Attribute* const decoded = entries_.attribute(index);
      if (!decoded) continue;
      entries.push_back({name, *decoded});
      Attribute& value = entries.back().value;
      value.at = operation.at;
      if (name == "callee" || name == "decomposition") value.kind = Attribute::Kind::kSymbol;
    }
    if (op.is_convolution)
      entries.push_back({"dimension_numbers", axes_of_convolution(data, operation)});
  }

  /// `[b, 0, f]x[0, i, o]->[b, 0, f]` of the nine attributes.
  Attribute axes_of_convolution(Bytes& data, const Operation& operation) {
    struct Side {
      std::string_view first, second, spatial, first_letter, second_letter;
    };
    constexpr Side kSides[] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "b", "f"},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions", "i", "o"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "b",
         "f"}};
    Attribute product = mlir::attribute_of(Attribute::Kind::kProduct, operation.at);
    for (const auto& [first, second, spatial, first_letter, second_letter] : kSides) {
      const std::vector<std::int64_t> axes = axes_named(data, spatial);
      Attribute labels = mlir::attribute_of(Attribute::Kind::kList, operation.at);
      labels.list.resize(axes.size() + 2);
      const auto label = [&](std::int64_t axis) -> Attribute& {
        if (axis < 0 || static_cast<std::size_t>(axis) >= labels.list.size())
          data.fail(fmt::format("axis {} of a convolution", axis));
        return labels.list[static_cast<std::size_t>(axis)];
      };
      for (const auto& [name, letter] : {std::pair(first, first_letter), {second, second_letter}}) {
        const std::vector<std::int64_t> axis = axes_named(data, name);
        if (axis.size() != 1) data.fail(fmt::format("{} is not one axis", name));
        label(axis[0]).kind = Attribute::Kind::kWord;
        label(axis[0]).text = letter;
      }
      for (std::size_t i = 0; i < axes.size(); i++) {
        label(axes[i]).kind = Attribute::Kind::kInteger;
        label(axes[i]).integer = static_cast<std::int64_t>(i);
      }
      product.list.push_back(std::move(labels));
    }
    return product;
  }
  std::vector<std::int64_t> axes_named(Bytes& data, std::string_view name) {
    for (const Entries::Named& named : attributes_) {
      if (named.name == name) return entries_.integers(named.value);
    }
    data.fail(fmt::format("`{}` of a convolution is missing", name));
  }

  const Container& file_;
  std::string& out_;
  Names& names_;
  Entries entries_;
  std::vector<Op> ops_;  // of the file, as far as they are used
  std::vector<bool> placed_;
  std::vector<mlir::FilePlace> places_;  // of the locations that were asked for
  std::vector<mlir::Module> modules_;
  std::vector<Space> spaces_;
  std::vector<std::string_view> parameter_names_;
  std::vector<Entries::Named> attributes_;  // of the operation that is read
  using Index = std::optional<std::size_t>;
  absl::flat_hash_map<std::pair<const Op*, std::pair<Index, Index>>,
                      std::pair<mlir::EntryList, mlir::Offset>>
      lists_;                  // with where they were read
  mlir::ValueId next_id_ = 0;  // in the function that is read
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

Artifact read_artifact(std::string_view file) {
  if (const auto program = program_in_export(file);
      file.substr(0, kMagic.size()) != kMagic && program)
    file = *program;
  const Container container = read_container(file);
  Artifact artifact;
  artifact.modules = ArtifactReader(container, artifact).modules();
  return artifact;
}

}  // namespace rondo::text::bytecode
