// Statement by statement from grammar matches to the module's pools.
#include "ptx/builder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ptxasw::ptx {

namespace {

// .file numbers above this are not kept; compilers count from 1.
constexpr std::uint64_t most_files = 1U << 16;

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}
std::uint32_t size32(std::size_t size) {
  return static_cast<std::uint32_t>(size);
}

std::uint64_t number(std::string_view literal) {
  return integer_constant(literal).bits;
}

} // namespace

void Builder::begin() {
  before_ = {module_.modifiers.size(), module_.operands.size(), module_.variables.size(),
             module_.labels.size(), module_.prototypes.size()};
  kind_ = StatementKind::opaque;
  stack_.clear();
  marks_.clear();
  constants_.clear();
  instruction_ = {};
  location_parts_ = inlined_parts_ = 0;
  inlined_at_ = {};
}

void Builder::rollback() {
  module_.modifiers.resize(before_.modifiers);
  module_.operands.resize(before_.operands);
  module_.variables.resize(before_.variables);
  module_.labels.resize(before_.labels);
  module_.prototypes.resize(before_.prototypes);
  kind_ = StatementKind::opaque;
  declaration_ = {};
  function_ = {};
  parameters_.clear();
}

Range Builder::range(std::string_view text) const {
  const auto begin = size32(static_cast<std::size_t>(text.data() - text_.data()));
  return {begin, begin + size32(text.size())};
}

void Builder::finish(StatementKind kind, std::size_t index, std::size_t count) {
  kind_ = kind;
  index_ = size32(index);
  count_ = size32(count);
}

// ---- Operands -------------------------------------------------------------------------------

void Builder::push(OperandKind kind, std::string_view text) {
  stack_.push_back({kind, range(text), text, 0, {}});
}

Slice Builder::flush(std::size_t from) {
  const Slice slice{size32(module_.operands.size()), size32(stack_.size() - from)};
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(from);
  module_.operands.insert(module_.operands.end(), first, stack_.end());
  stack_.erase(first, stack_.end());
  return slice;
}

void Builder::constant(std::string_view text, const Constant& value) {
  switch (value.kind) {
  case Constant::Kind::integer: push(OperandKind::integer, text); break;
  case Constant::Kind::float32: push(OperandKind::float32, text); break;
  case Constant::Kind::float64: push(OperandKind::float64, text); break;
  case Constant::Kind::other: push(OperandKind::expression, text); break;
  case Constant::Kind::address:
    push(OperandKind::name, value.symbol);
    const Slice base = flush(stack_.size() - 1);
    push(OperandKind::expression, text);
    stack_.back().children = base;
    break;
  }
  stack_.back().value = value.bits;
}

void Builder::negated(std::string_view text) {
  push(OperandKind::name, remembered_[0]);
  const Slice child = flush(stack_.size() - 1);
  push(OperandKind::negated, text);
  stack_.back().children = child;
}

void Builder::pair(std::string_view text) {
  for (const std::string_view part : remembered_)
    push(part == "_" ? OperandKind::sink : OperandKind::name, part);
  const Slice children = flush(stack_.size() - 2);
  push(OperandKind::pair, text);
  stack_.back().children = children;
}

void Builder::close(OperandKind kind, std::string_view text) {
  const std::size_t from = marks_.back();
  marks_.pop_back();
  const Slice children = flush(from);
  push(kind, text);
  stack_.back().children = children;
}

void Builder::vector_partner(std::string_view text) {
  const Range vector = stack_.back().range;
  push(text == "_" ? OperandKind::sink : OperandKind::name, text);
  const Slice children = flush(stack_.size() - 2);
  const std::uint32_t end = range(text).end;
  push(OperandKind::pair, text_.substr(vector.begin, end - vector.begin));
  stack_.back().children = children;
}

void Builder::offset_base() {
  name(remembered_[0]);
  const std::string_view offset = remembered_[1];
  const std::size_t digits = offset.find_first_of("0123456789");
  const std::uint64_t value = number(offset.substr(digits));
  offset_ = offset.front() == '-' ? 0 - value : value;
}

void Builder::expression_base(std::string_view text) {
  const Constant value = pop();
  if (value.kind == Constant::Kind::address) {
    name(value.symbol);
    offset_ = value.bits;
  } else {
    constant(text, value);
  }
}

void Builder::open_address() {
  open();
  offset_ = 0;
}

void Builder::address(std::string_view text) {
  close(OperandKind::address, text);
  stack_.back().value = offset_;
}

// ---- Constant expressions ---------------------------------------------------------------------

Constant Builder::pop() {
  const Constant top = constants_.back();
  constants_.pop_back();
  return top;
}

void Builder::unary(std::string_view text) {
  push(unary_constant(text[0], pop()));
}

void Builder::binary(std::string_view text) {
  const Constant right = pop();
  const Constant left = pop();
  push(binary_constant(text, left, right));
}

void Builder::choose() {
  const Constant no = pop();
  const Constant yes = pop();
  push(choose_constant(pop(), yes, no));
}

void Builder::apply() {
  pop();
  constants_.back() = {};
}

void Builder::cast(bool is_unsigned) {
  Constant& value = constants_.back();
  if (value.kind == Constant::Kind::integer)
    value.is_unsigned = is_unsigned;
  else
    value = {};
}

// ---- Instructions -----------------------------------------------------------------------------

void Builder::opcode(std::string_view text) {
  instruction_.op = find_op(text);
  instruction_.modifiers.first = size32(module_.modifiers.size());
}

void Builder::mnemonic(std::string_view text) {
  instruction_.mnemonic = range(text);
  instruction_.modifiers.count = size32(module_.modifiers.size()) - instruction_.modifiers.first;
}

void Builder::instruction() {
  instruction_.operands = flush(0);
  finish(StatementKind::instruction, module_.instructions.size(), 1);
  module_.instructions.push_back(instruction_);
}

// ---- Declarations -----------------------------------------------------------------------------

void Builder::linkage(std::string_view word) {
  declaration_.external |= word == ".extern";
  declaration_.visible |= word == ".visible";
  declaration_.weak |= word == ".weak";
  declaration_.common |= word == ".common";
}

void Builder::space(std::string_view word) {
  declaration_.space = decode(Op::unknown, std::span(&word, 1)).space;
}

void Builder::type(std::string_view word) {
  const Modifiers modifiers = decode(Op::unknown, std::span(&word, 1));
  if (modifiers.type != Type::none) declaration_.type = modifiers.type;
  if (modifiers.vector != 1) declaration_.vector = modifiers.vector;
}

void Builder::declarator(std::string_view name) {
  module_.variables.push_back(declaration_);
  sized_ = &module_.variables.back();
  sized_->name = name;
}

void Builder::range_count(std::string_view literal) {
  module_.variables.back().range = narrow(number(literal));
}

void Builder::dimension_size() {
  const Constant size = pop();
  multiply_elements(size.kind == Constant::Kind::integer ? size.bits : 0);
  unsized_ = false;
}

void Builder::dimension() {
  sized_->is_array = true;
  if (unsized_) sized_->elements = 0;
  unsized_ = true;
}

// A product that does not fit means "unknown", as an absent size does.
void Builder::multiply_elements(std::uint64_t by) {
  std::uint64_t product = 0;
  sized_->elements = __builtin_mul_overflow(sized_->elements, by, &product) ? 0 : product;
}

std::uint32_t Builder::to_size(const Constant& value) {
  return value.kind == Constant::Kind::integer ? narrow(value.bits) : 0;
}

void Builder::variable() {
  finish(StatementKind::variable, before_.variables, module_.variables.size() - before_.variables);
  declaration_ = {};
}

void Builder::parameter_space(std::string_view word) {
  declaration_ = {};
  space(word);
}

void Builder::parameter_name(std::string_view name) {
  parameters_.push_back(declaration_);
  sized_ = &parameters_.back();
  sized_->name = name == "_" ? std::string_view() : name;
}

void Builder::return_parameters() {
  function_.returns = std::exchange(parameters_, {});
}
void Builder::value_parameters() {
  function_.parameters = std::exchange(parameters_, {});
}

void Builder::function_kind(std::string_view word) {
  function_.is_entry = word == ".entry";
  function_.external = declaration_.external;
  function_.visible = declaration_.visible;
  function_.weak = declaration_.weak;
}

void Builder::tuning_name(std::string_view name) {
  tuning_name_ = name;
  constants_.clear();
}

void Builder::tuning() {
  std::array<std::uint32_t, 3> values{};
  const std::size_t given = std::min(values.size(), constants_.size());
  for (std::size_t i = 0; i < given; ++i)
    values[i] = to_size(constants_[i]);
  std::array<std::uint32_t, 3> sizes = values;
  for (std::size_t i = given; i < sizes.size(); ++i)
    sizes[i] = 1;
  if (tuning_name_ == ".maxntid")
    function_.maxntid = sizes;
  else if (tuning_name_ == ".reqntid")
    function_.reqntid = sizes;
  else if (tuning_name_ == ".minnctapersm")
    function_.minnctapersm = values[0];
  else if (tuning_name_ == ".maxnreg")
    function_.maxnreg = values[0];
  else if (tuning_name_.find("cluster") != std::string_view::npos)
    function_.uses_clusters = true;
  tuning_name_ = {};
  constants_.clear();
}

void Builder::function() {
  finish(StatementKind::function, module_.functions.size(), 1);
  function_.is_declaration = true; // until its body opens
  module_.functions.push_back(std::exchange(function_, {}));
  declaration_ = {};
}

// ---- Labels and directives ----------------------------------------------------------------------

void Builder::label() {
  finish(StatementKind::label, module_.labels.size(), 1);
  module_.labels.push_back(remembered_[0]);
}

void Builder::target_count(std::string_view literal) {
  stack_.back().value = number(literal);
}

void Builder::prototype_end() {
  prototype_.label = module_.labels.back();
  module_.labels.pop_back();
  prototype_.names = flush(0);
  finish(StatementKind::prototype, module_.prototypes.size(), 1);
  module_.prototypes.push_back(prototype_);
}

void Builder::version(std::string_view text) {
  const std::size_t dot = text.find('.');
  module_.version_major = narrow(number(text.substr(0, dot)));
  module_.version_minor = narrow(number(text.substr(dot + 1)));
}

void Builder::target(std::string_view name) {
  if (module_.target.empty()) module_.target = name;
}

void Builder::address_size(std::string_view literal) {
  module_.address_size = narrow(number(literal));
}

void Builder::file_number(std::string_view literal) {
  file_number_ = number(literal);
}

void Builder::file_name(std::string_view quoted) {
  if (file_number_ >= most_files) return;
  if (file_number_ >= module_.files.size()) module_.files.resize(file_number_ + 1);
  module_.files[file_number_] = quoted.substr(1, quoted.size() - 2);
}

void Builder::location_part(std::string_view literal) {
  location_[location_parts_++] = narrow(number(literal));
}

void Builder::inlined_part(std::string_view literal) {
  inlined_at_[inlined_parts_++ % inlined_at_.size()] = narrow(number(literal));
}

void Builder::location() {
  finish(StatementKind::location, module_.locations.size(), 1);
  module_.locations.push_back({location_[0], location_[1], location_[2], inlined_at_});
}

} // namespace ptxasw::ptx
