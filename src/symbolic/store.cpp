// Node storage: an arena for operands, chunks of nodes, and an open-addressing table that gives
// equal nodes equal ids.
#include "symbolic/bits.hpp"
#include "symbolic/processor_time.hpp"
#include "symbolic/term.hpp"

#include <algorithm>
#include <cstring>

namespace ptxasw::sym {

namespace {

std::uint32_t mix(std::uint64_t& state, std::uint64_t word) {
  state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
  state ^= state >> 29;
  return static_cast<std::uint32_t>(state ^ (state >> 32));
}

std::uint32_t hash_of(const NodeKey& key) {
  std::uint64_t state = 0x243F6A8885A308D3ULL;
  std::uint32_t hash = mix(state, static_cast<std::uint64_t>(key.kind) << 40 |
                                      static_cast<std::uint64_t>(key.width) << 32 | key.aux);
  for (const Term t : key.args)
    hash = mix(state, t.id);
  for (const Bits b : key.numbers) {
    hash = mix(state, static_cast<std::uint64_t>(b));
    if (key.width > 64) hash = mix(state, static_cast<std::uint64_t>(b >> 64));
  }
  for (const std::uint32_t e : key.ends)
    hash = mix(state, e);
  return hash;
}

constexpr std::size_t block_bytes = std::size_t{16} << 10;
constexpr std::uint64_t steps_between_checks = 4096;

} // namespace

Context::Context(std::size_t node_budget) : budget_(node_budget), table_(512) {}

void Context::allow(const Allowance& wanted) {
  allowance_ = wanted;
  allowance_.steps += std::min(spent_, ~std::uint64_t{0} - wanted.steps);
  restart_clock();
  next_check_ = spent_;
}

void Context::restart_clock() {
  began_ = processor_time();
}

void Context::check_allowance() const {
  next_check_ =
      spent_ +
      std::min(steps_between_checks, allowance_.steps - std::min(spent_, allowance_.steps)) + 1;
  if (spent_ >= allowance_.steps)
    throw BudgetSpent(BudgetSpent::Of::work, "time budget of the analysis spent");
  check_memory();
  if (allowance_.clock != Allowance{}.clock && processor_time() - began_ > allowance_.clock)
    throw BudgetSpent(BudgetSpent::Of::clock,
                      "the clock stopped the analysis, which is not counted well here");
}

void Context::check_memory() const {
  if (allowance_.bytes != Allowance{}.bytes && memory_bytes() + held_ > allowance_.bytes)
    throw BudgetSpent(BudgetSpent::Of::memory, "memory budget of the analysis spent");
}

template <class T> const T* Context::store(std::span<const T> values) {
  if (values.empty()) return nullptr;
  const std::size_t bytes = values.size_bytes();
  std::size_t at = (block_used_ + alignof(T) - 1) / alignof(T) * alignof(T);
  if (blocks_.empty() || at + bytes > block_size_) {
    // Blocks grow with the arena: small kernels stay small, large ones allocate seldom.
    block_size_ = std::max({block_bytes, bytes, std::min(arena_total_ / 2, 16 * block_bytes)});
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block_size_));
    arena_total_ += block_size_;
    at = 0;
  }
  std::byte* place = blocks_.back().get() + at;
  block_used_ = at + bytes;
  std::memcpy(place, values.data(), bytes);
  return std::launder(reinterpret_cast<const T*>(place));
}

bool Context::matches(const Node& n, const NodeKey& key) const {
  if (n.kind != key.kind || n.width != key.width || n.aux != key.aux ||
      n.count != key.args.size() || !std::ranges::equal(n.args(), key.args))
    return false;
  return std::equal(key.numbers.begin(), key.numbers.end(), n.numbers) &&
         std::equal(key.ends.begin(), key.ends.end(), n.ends);
}

void Context::grow_table() {
  std::vector<std::uint32_t> larger(table_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const std::uint32_t entry : table_) {
    if (entry == 0) continue;
    std::size_t slot = node(Term{entry - 1}).hash & mask;
    while (larger[slot] != 0)
      slot = (slot + 1) & mask;
    larger[slot] = entry;
  }
  table_ = std::move(larger);
}

Term Context::append(Node n) {
  if (node_total_ % chunk_nodes == 0) chunks_.push_back(std::make_unique<Node[]>(chunk_nodes));
  n.self = Term{static_cast<std::uint32_t>(node_total_)};
  chunks_.back()[node_total_ % chunk_nodes] = n;
  ++node_total_;
  return n.self;
}

Term Context::intern(const NodeKey& key) {
  spend(2 + (key.args.size() + key.numbers.size()) / 4);
  const std::uint32_t hash = hash_of(key);
  std::size_t slot = hash & (table_.size() - 1);
  while (table_[slot] != 0) {
    const Term candidate{table_[slot] - 1};
    if (node(candidate).hash == hash && matches(node(candidate), key)) return candidate;
    slot = (slot + 1) & (table_.size() - 1);
  }
  Node n;
  n.kind = key.kind;
  n.width = static_cast<std::uint8_t>(key.width);
  n.aux = key.aux;
  n.hash = hash;
  n.count = static_cast<std::uint32_t>(key.args.size());
  for (const Term t : key.args) {
    const Node& child = node(t);
    n.uniformity = std::max(n.uniformity, child.uniformity);
    n.depth = std::max(n.depth, child.depth + 1);
    n.atom_set |= child.atom_set;
  }
  n.operands = store(key.args);
  n.numbers = store(key.numbers);
  n.ends = store(key.ends);
  const Term result = append(n);
  table_[slot] = result.id + 1;
  if (node_total_ * 2 > table_.size()) grow_table();
  return result;
}

Term Context::constant(unsigned width, Bits value) {
  assert(width >= 1 && width <= 128);
  const Bits clipped = value & low_mask(width);
  return intern(NodeKey{Kind::constant, width, 0, {}, std::span(&clipped, 1), {}});
}

Term Context::atom(Atom atom) {
  assert(atom.width >= 1 && atom.width <= 128);
  const Bits mask = low_mask(atom.width);
  atom.hi = std::min(atom.hi, mask);
  if (atom.lo > atom.hi) { // contradictory bounds say nothing
    atom.lo = 0;
    atom.hi = mask;
  }
  Node n;
  n.kind = Kind::atom;
  n.width = static_cast<std::uint8_t>(atom.width);
  n.uniformity = atom.uniformity;
  n.aux = static_cast<std::uint32_t>(atoms_.size());
  n.atom_set = std::uint64_t{1} << (atoms_.size() % 64);
  atoms_.push_back(std::move(atom));
  return append(n);
}

Term Context::apply(FunctionKey key, std::string_view name, unsigned result_width,
                    std::span<const Term> args) {
  const auto [place, is_new] =
      symbol_index_.try_emplace(key, static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) symbols_.push_back({key, std::string(name)});
  return intern(NodeKey{Kind::apply, result_width, place->second, args, {}, {}});
}

std::vector<Term> Context::postorder(Term root, const std::function<bool(Term)>& skip) const {
  // Ids grow from children to parents, so the reachable ids in ascending order are a postorder.
  std::vector<bool> seen(root.id + std::size_t{1});
  std::vector<Term> reached;
  std::vector<Term> todo{root};
  seen[root.id] = true;
  while (!todo.empty()) {
    const Term t = todo.back();
    todo.pop_back();
    if (skip && skip(t)) continue;
    reached.push_back(t);
    for (const Term child : node(t).args())
      if (!seen[child.id]) {
        seen[child.id] = true;
        todo.push_back(child);
      }
  }
  std::ranges::sort(reached);
  spend(2 * reached.size() + root.id / 1024);
  return reached;
}

std::size_t Context::memory_bytes() const {
  return chunks_.size() * chunk_nodes * sizeof(Node) + arena_total_ +
         table_.size() * sizeof(table_[0]) + atoms_.size() * sizeof(Atom) +
         knowledge_.size() * sizeof(Known) +
         (pushed_.size() + replacing_.done.size() + remembered_) * 4 * sizeof(void*);
}

} // namespace ptxasw::sym
