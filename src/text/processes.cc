#include "text/processes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "ops/collectives.h"
#include "ops/elementwise_region.h"
#include "ops/slice.h"
#include "rondo/ops.h"
#include "rondo/vmap.h"
#include "text/mlir/cursor.h"

namespace rondo::text {

namespace {

Tensor constant_of(const std::vector<std::int32_t>& numbers, const Shape& shape) {
  return Tensor(Literal::from(numbers, shape));
}

using Groups = std::vector<std::vector<std::int64_t>>;

/// The parts of an operation that all collectives have.
class Collective {
 public:
  explicit Collective(const ReadOperation& read)
      : read_(read), lanes_(ops::named_axis_size(kProcessAxis)) {
    if (!read.processes) fail("it needs several processes, which this program does not have");
    if (read.processes->in_turn && read.processes->count() != 1)
      fail("processes that run different programs can only send and receive");
    if (lanes_ && *lanes_ != read.processes->count())
      fail(
          fmt::format("the axis \"{}\" has {} lanes; the program is for {} replicas and {} "
                      "partitions",
                      kProcessAxis, *lanes_, read.processes->replicas, read.processes->partitions));
    if (count() > kMostProcesses) fail(fmt::format("{} processes are too many", count()));
    if (!lanes_ && read.processes->count() != 1)
      fail(
          fmt::format("it needs {} processes\n  Read the program within a vmap with the axis_name "
                      "\"{}\".",
                      read.processes->count(), kProcessAxis));
  }

  [[noreturn]] void fail(const std::string& message) const {
    mlir::fail(read_.text, read_.operation.at,
               fmt::format("{}: {}", read_.operation.name, message));
  }
  const Tensor& operand(std::size_t i) const {
    if (i >= read_.operands.size()) fail("an operand is missing");
    return read_.operands[i];
  }
  const TensorType& result(std::size_t i) const {
    if (i >= read_.operation.types.size()) fail("the type of a result is missing");
    return read_.operation.types[i];
  }

  /// The number of this process, s32[].
  Tensor process() const {
    return lanes_ ? axis_index(kProcessAxis, read_.at)
                  : Tensor(static_cast<std::int32_t>(read_.processes->only), read_.at);
  }
  std::int64_t count() const { return read_.processes->count(); }

  const mlir::Attribute* find(std::string_view stablehlo, std::string_view hlo) const {
    return read_.operation.find(read_.format == TextFormat::kHlo ? hlo : stablehlo);
  }
  std::int64_t integer(std::string_view stablehlo, std::string_view hlo) const {
    const mlir::Attribute* value = find(stablehlo, hlo);
    if (value && value->kind == mlir::Attribute::Kind::kList && value->list.size() == 1)
      value = &value->list[0];
    if (!value || value->kind != mlir::Attribute::Kind::kInteger)
      fail(fmt::format("`{}` is missing", read_.format == TextFormat::kHlo ? hlo : stablehlo));
    return value->integer;
  }
  /// The number of the channel; 0: the operation has none.
  std::int64_t channel() const {
    const mlir::Attribute* value = find("channel_handle", "channel_id");
    if (value && value->kind == mlir::Attribute::Kind::kDictionary) {
      for (const mlir::Entry& entry : value->entries) {
        if (entry.name == "handle") return entry.value.integer;
      }
    }
    if (!value) value = read_.operation.find("channel_id");
    return value ? value->integer : 0;
  }
  bool has_flag(std::string_view name) const {
    const mlir::Attribute* const value = read_.operation.find(name);
    return value && (value->kind != mlir::Attribute::Kind::kBool || value->integer != 0);
  }

  /// Rows of ids, as many as the longest has; -1 means none.
  Groups rows(std::string_view stablehlo, std::string_view hlo) const {
    const mlir::Attribute* const value = find(stablehlo, hlo);
    Groups all;
    if (!value) return all;
    if (value->kind == mlir::Attribute::Kind::kElements && value->type.rank() == 2 &&
        value->type.dtype == DType::kS64) {
      const Literal& ids = value->elements;
      const bool splat = ids.type() != value->type;
      const std::int64_t columns = value->type.shape[1];
      if (value->type.elements() > kMostIds) fail(fmt::format("`{}` is too long", stablehlo));
      for (std::int64_t i = 0; i < value->type.elements(); i++) {
        if (i % columns == 0) all.emplace_back();
        all.back().push_back(ids.data<std::int64_t>()[static_cast<std::size_t>(splat ? 0 : i)]);
      }
      return all;
    }
    if (value->kind != mlir::Attribute::Kind::kList)
      fail(fmt::format("`{}` must be lists of ids", stablehlo));
    for (const mlir::Attribute& row : value->list) {
      std::vector<std::int64_t>& ids = all.emplace_back();
      for (const mlir::Attribute& id : row.list) ids.push_back(id.integer);
    }
    return all;
  }

  enum class Ids : std::uint8_t { kReplicas, kPartitions, kReplicasOfAllPartitions, kProcesses };

  /// The processes of each group, in order.
  Groups groups(Ids ids) const {
    const std::int64_t replicas = read_.processes->replicas;
    const std::int64_t partitions = read_.processes->partitions;
    Groups given = rows("replica_groups", "replica_groups");
    if (given.empty()) {
      std::vector<std::int64_t>& all = given.emplace_back();
      const std::int64_t most = ids == Ids::kProcesses    ? count()
                                : ids == Ids::kPartitions ? partitions
                                                          : replicas;
      for (std::int64_t i = 0; i < most; i++) all.push_back(i);
    }
    Groups groups;
    const auto most = static_cast<std::size_t>(count());
    for (std::vector<std::int64_t>& group : given) {
      if (given.size() > most || group.size() > most)
        fail(fmt::format("there are more groups or members than the {} processes", most));
      group.erase(std::remove(group.begin(), group.end(), -1), group.end());
      switch (ids) {
        case Ids::kReplicas:
          for (std::int64_t p = 0; p < partitions; p++) append(groups.emplace_back(), group, p);
          break;
        case Ids::kPartitions:
          for (std::int64_t r = 0; r < replicas; r++) {
            groups.emplace_back();
            for (const std::int64_t p : group) groups.back().push_back(process_of(r, p));
          }
          break;
        case Ids::kReplicasOfAllPartitions:
          groups.emplace_back();
          for (std::int64_t p = 0; p < partitions; p++) append(groups.back(), group, p);
          break;
        case Ids::kProcesses:
          for (const std::int64_t id : group) {
            if (id < 0 || id >= count()) fail(fmt::format("there is no process {}", id));
          }
          groups.push_back(group);
          break;
      }
    }
    return groups;
  }
  Ids ids_of_reductions() const {
    if (has_flag("use_global_device_ids")) return Ids::kProcesses;
    return channel() > 0 ? Ids::kReplicasOfAllPartitions : Ids::kReplicas;
  }
  Ids ids_of_exchanges() const { return channel() > 0 ? Ids::kPartitions : Ids::kReplicas; }

 private:
  static constexpr std::int64_t kMostIds = 1 << 20;

  void append(std::vector<std::int64_t>& processes, std::span<const std::int64_t> replicas,
              std::int64_t partition) const {
    for (const std::int64_t replica : replicas) processes.push_back(process_of(replica, partition));
  }
  std::int64_t process_of(std::int64_t replica, std::int64_t partition) const {
    if (replica < 0 || replica >= read_.processes->replicas || partition < 0 ||
        partition >= read_.processes->partitions)
      fail(fmt::format("there is no replica {} with a partition {}", replica, partition));
    return replica * read_.processes->partitions + partition;
  }

  const ReadOperation& read_;
  const std::optional<std::int64_t> lanes_;
};

/// The values of other members of this process's group.
class Members {
 public:
  Members(const Collective& op, const Groups& groups) : op_(op) {
    const auto count = static_cast<std::size_t>(op.count());
    for (const std::vector<std::int64_t>& group : groups) {
      length_ = std::max(length_, group.size());
      even_ = even_ && group.size() == groups[0].size();
    }
    if (length_ > count) op.fail(fmt::format("a group has {} of {} processes", length_, count));
    std::vector<std::int32_t> members(count * length_, -1), ranks(count, -1);
    for (const std::vector<std::int64_t>& group : groups) {
      for (std::size_t i = 0; i < group.size(); i++) {
        const auto process = static_cast<std::size_t>(group[i]);
        if (ranks[process] >= 0) op.fail(fmt::format("process {} is in two groups", process));
        ranks[process] = static_cast<std::int32_t>(i);
        for (std::size_t k = 0; k < group.size(); k++)
          members[process * length_ + k] = static_cast<std::int32_t>(group[k]);
      }
    }
    even_ = even_ && std::find(ranks.begin(), ranks.end(), -1) == ranks.end();
    const auto n = static_cast<std::int64_t>(count);
    const auto length = static_cast<std::int64_t>(length_);
    members_ = take(constant_of(members, {n, length}), op.process());
    rank_ = take(constant_of(ranks, {n}), op.process());
  }

  std::size_t length() const { return length_; }
  /// Throws ParseError unless each process is in a group, all of one length.
  void check_even() const {
    if (!even_) op_.fail("its groups must have one length, and each process be in one");
  }
  /// s32[]: the place of this process in its group; -1 if it is in none.
  const Tensor& rank() const { return rank_; }
  /// s32[]: the process at place k; -1 if there is none.
  Tensor member(const Tensor& k) const { return take(members_, k); }
  Tensor member(std::size_t k) const { return member(Tensor(static_cast<std::int32_t>(k))); }

 private:
  const Collective& op_;
  std::size_t length_ = 0;
  bool even_ = true;
  Tensor members_, rank_;
};

/// The values of all processes, by their number.
class Gathered {
 public:
  explicit Gathered(const Tensor& x)
      : all_(ops::named_axis_size(kProcessAxis) ? axis_gather(x, kProcessAxis)
                                                : expand_dims(x, 0)) {}
  /// That of process i, s32[]; zeros if it is negative.
  Tensor operator[](const Tensor& i) const {
    const Tensor value = take(all_, maximum(i, 0));
    return where(i >= 0, value, zeros(value.type()));
  }

 private:
  Tensor all_;
};

Tensor combine_all(const Collective& op, const Members& members, const Function& region,
                   const Tensor& x) {
  if (region.parameters().size() != 2 || region.outputs().size() != 1 ||
      (x.rank() > 0 && ops::first_not_elementwise(region)))
    op.fail("its region must combine two scalars by elementwise ops");
  const Gathered values(x);
  Tensor sum = values[members.member(std::size_t{0})];
  for (std::size_t k = 1; k < members.length(); k++) {
    const Tensor member = members.member(k);
    const Tensor arguments[] = {sum, values[member]};
    sum = where(member >= 0, ops::call_elementwise(region, arguments, x.shape())[0], sum);
  }
  return sum;
}

/// The part of this number among `count` equal ones along an axis.
Tensor part_of(const Collective& op, const Tensor& x, std::int64_t axis, std::size_t count,
               const Tensor& number) {
  if (axis < 0 || axis >= x.rank()) op.fail(fmt::format("{} has no axis {}", x.type().str(), axis));
  const std::int64_t parts = std::max<std::int64_t>(static_cast<std::int64_t>(count), 1);
  if (x.dim(axis) % parts != 0)
    op.fail(fmt::format("axis {} of {} has no {} equal parts", axis, x.type().str(), parts));
  std::vector<std::int64_t> sizes = x.shape().vector();
  const std::int64_t size = sizes[static_cast<std::size_t>(axis)] / parts;
  sizes[static_cast<std::size_t>(axis)] = size;
  std::vector<Tensor> starts(sizes.size(), Tensor(0));
  starts[static_cast<std::size_t>(axis)] = number * static_cast<std::int32_t>(size);
  return dynamic_slice(x, starts, sizes);
}

const Function& region_of(const ReadOperation& read, const Collective& op) {
  if (read.regions.size() != 1) op.fail("it needs one region");
  return read.regions[0];
}

std::vector<Tensor> read_all_reduce(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_reductions()));
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands)
    results.push_back(combine_all(op, members, region_of(read, op), x));
  return results;
}

/// Only the first of each group has the sum, the others zeros.
std::vector<Tensor> read_collective_reduce(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_exchanges()));
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands) {
    results.push_back(where(members.rank() == 0, combine_all(op, members, region_of(read, op), x),
                            zeros(x.type())));
  }
  return results;
}

std::vector<Tensor> read_reduce_scatter(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_reductions()));
  members.check_even();
  const std::int64_t axis = op.integer("scatter_dimension", "dimensions");
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands) {
    results.push_back(part_of(op, combine_all(op, members, region_of(read, op), x), axis,
                              members.length(), members.rank()));
  }
  return results;
}

std::vector<Tensor> read_all_gather(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_reductions()));
  members.check_even();
  const std::int64_t axis = op.integer("all_gather_dim", "dimensions");
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands) {
    const Gathered values(x);
    std::vector<Tensor> parts;
    for (std::size_t k = 0; k < members.length(); k++) parts.push_back(values[members.member(k)]);
    results.push_back(concatenate(parts, axis));
  }
  return results;
}

std::vector<Tensor> read_all_to_all(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_exchanges()));
  members.check_even();
  if (read.format == TextFormat::kHlo && !read.operation.find("dimensions"))
    op.fail("the form with an operand for each process is not supported");
  const std::int64_t split = op.integer("split_dimension", "dimensions");
  const std::int64_t join = op.integer("concat_dimension", "dimensions");
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands) {
    const Gathered values(x);
    std::vector<Tensor> parts;
    for (std::size_t k = 0; k < members.length(); k++) {
      parts.push_back(
          part_of(op, values[members.member(k)], split, members.length(), members.rank()));
    }
    results.push_back(concatenate(parts, join));
  }
  return results;
}

std::vector<Tensor> read_collective_broadcast(const ReadOperation& read) {
  const Collective op(read);
  const Members members(op, op.groups(op.ids_of_exchanges()));
  const bool chooses = op.has_flag("has_dynamic_root");
  std::span<const Tensor> operands = read.operands;
  if (chooses) {
    if (operands.empty()) op.fail("the roots are missing");
    operands = operands.first(operands.size() - 1);
    if (read.operands.back().rank() != 1 ||
        read.operands.back().dim(0) != static_cast<std::int64_t>(operands.size()))
      op.fail("it needs a root for each operand");
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const Tensor root =
        chooses ? convert(ops::row_of(read.operands.back(), static_cast<std::int64_t>(i), read.at),
                          DType::kS32)
                : Tensor(0);
    results.push_back(Gathered(operands[i])[members.member(root)]);
  }
  return results;
}

std::vector<Tensor> read_collective_permute(const ReadOperation& read) {
  const Collective op(read);
  std::vector<std::int32_t> sources(static_cast<std::size_t>(op.count()), -1);
  const bool of_partitions = op.channel() > 0;
  const std::int64_t partitions = read.processes->partitions;
  const std::int64_t ids = of_partitions ? partitions : read.processes->replicas;
  for (const std::vector<std::int64_t>& pair :
       op.rows("source_target_pairs", "source_target_pairs")) {
    if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0 || pair[0] >= ids || pair[1] >= ids)
      op.fail("`source_target_pairs` must be pairs of ids");
    for (std::int64_t other = 0; other < op.count() / ids; other++) {
      const auto process = [&](std::int64_t id) {
        return of_partitions ? other * partitions + id : id * partitions + other;
      };
      sources[static_cast<std::size_t>(process(pair[1]))] =
          static_cast<std::int32_t>(process(pair[0]));
    }
  }
  const Tensor source = take(constant_of(sources, {op.count()}), op.process());
  std::vector<Tensor> results;
  for (const Tensor& x : read.operands) results.push_back(Gathered(x)[source]);
  return results;
}

/// Of this process, also where it runs a program of its own.
Tensor process_number(const ReadOperation& read) {
  if (read.processes && read.processes->in_turn)
    return Tensor(static_cast<std::int32_t>(read.processes->only), read.at);
  return Collective(read).process();
}
std::vector<Tensor> read_replica_id(const ReadOperation& read) {
  const Tensor process = process_number(read);
  return {convert(process / static_cast<std::int32_t>(read.processes->partitions), DType::kU32)};
}
std::vector<Tensor> read_partition_id(const ReadOperation& read) {
  const Tensor process = process_number(read);
  return {convert(process % static_cast<std::int32_t>(read.processes->partitions), DType::kU32)};
}

Processes& in_turn(const ReadOperation& read) {
  if (!read.processes || !read.processes->in_turn) {
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: only processes with programs of their own can do this, one after "
                           "the other",
                           read.operation.name));
  }
  return *read.processes;
}
std::int64_t channel_of(const ReadOperation& read) {
  if (const mlir::Attribute* const handle = read.operation.find("channel_handle")) {
    for (const mlir::Entry& entry : handle->entries) {
      if (entry.name == "handle") return entry.value.integer;
    }
  }
  const mlir::Attribute* const id = read.operation.find("channel_id");
  return id ? id->integer : 0;
}
Tensor token(SourceLocation at) { return Tensor(Literal::zeros({DType::kPred, Shape({0})}), at); }

/// Values in the order in which they were sent, without the token.
std::vector<Tensor> read_send(const ReadOperation& read) {
  std::deque<Tensor>& channel = in_turn(read).channels[channel_of(read)];
  if (!read.operands.empty())
    channel.insert(channel.end(), read.operands.begin(), read.operands.end() - 1);
  return {token(read.at)};
}
std::vector<Tensor> read_receive(const ReadOperation& read) {
  std::deque<Tensor>& channel = in_turn(read).channels[channel_of(read)];
  std::vector<Tensor> results;
  for (std::size_t i = 0; i + 1 < read.operation.types.size(); i++) {
    if (channel.empty()) {
      mlir::fail(read.text, read.operation.at,
                 fmt::format("{}: nothing was sent before this", read.operation.name));
    }
    results.push_back(std::move(channel.front()));
    channel.pop_front();
  }
  results.push_back(token(read.at));
  return results;
}
std::vector<Tensor> read_infeed(const ReadOperation& read) {
  std::deque<std::vector<Tensor>>& infeed = in_turn(read).infeed;
  if (infeed.empty()) {
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: the host has nothing to give", read.operation.name));
  }
  std::vector<Tensor> results = std::move(infeed.front());
  infeed.pop_front();
  results.push_back(token(read.at));
  return results;
}
/// What the host gets is not part of the results.
std::vector<Tensor> read_outfeed(const ReadOperation& read) {
  in_turn(read);
  return {token(read.at)};
}

constexpr NamedReader kCollectives[] = {
    {"stablehlo.all_gather", "all-gather", read_all_gather},
    {"stablehlo.all_reduce", "all-reduce", read_all_reduce},
    {"stablehlo.all_to_all", "all-to-all", read_all_to_all},
    {"stablehlo.collective_broadcast", "collective-broadcast", read_collective_broadcast},
    {"stablehlo.collective_permute", "collective-permute", read_collective_permute},
    {"stablehlo.collective_reduce", "", read_collective_reduce},
    {"stablehlo.infeed", "", read_infeed},
    {"stablehlo.outfeed", "", read_outfeed},
    {"stablehlo.partition_id", "partition-id", read_partition_id},
    {"stablehlo.recv", "", read_receive},
    {"stablehlo.reduce_scatter", "reduce-scatter", read_reduce_scatter},
    {"stablehlo.replica_id", "replica-id", read_replica_id},
    {"stablehlo.send", "", read_send}};

}  // namespace

std::span<const NamedReader> collectives() { return kCollectives; }

}  // namespace rondo::text
