// Calls of device functions, returns, and the functions of the CUDA device runtime that PTX from
// compilers calls by name: vprintf and __assertfail.
#include "simt/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ptxasw::simt {

namespace {

constexpr std::uint32_t most_calls = 256;                    // deep
constexpr std::uint64_t most_stack = std::uint64_t{1} << 19; // bytes of a thread

// The bytes of a lane's stack.
std::uint8_t* stack_at(Warp& warp, unsigned lane, std::uint64_t offset) {
  return &warp.stack[lane * warp.stack_capacity + offset];
}
std::uint8_t* flags_at(Warp& warp, unsigned lane, std::uint64_t offset) {
  return &warp.stack_defined[lane * warp.stack_capacity + offset];
}

void grow_stack(Warp& warp, std::uint64_t bytes) {
  if (bytes <= warp.stack_capacity) return;
  const std::uint64_t capacity = std::max<std::uint64_t>(2 * warp.stack_capacity, bytes);
  std::vector<std::uint8_t> data(capacity * warp_size, 0xa5), defined(capacity * warp_size, 0);
  for (unsigned lane = 0; lane < warp_size && warp.stack_capacity != 0; ++lane) {
    std::copy_n(stack_at(warp, lane, 0), warp.stack_capacity, &data[lane * capacity]);
    std::copy_n(flags_at(warp, lane, 0), warp.stack_capacity, &defined[lane * capacity]);
  }
  warp.stack = std::move(data);
  warp.stack_defined = std::move(defined);
  warp.stack_capacity = capacity;
}

// From one place on the lane's stack to another, and whether it is defined.
void copy_on_stack(Warp& warp, unsigned lane, std::uint64_t to, std::uint64_t from,
                   std::uint64_t size) {
  std::memcpy(stack_at(warp, lane, to), stack_at(warp, lane, from), size);
  std::memcpy(flags_at(warp, lane, to), flags_at(warp, lane, from), size);
}

// Numbers on the stack, of up to eight bytes.
std::uint64_t read_stack(Warp& warp, unsigned lane, std::uint64_t offset, std::uint64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, stack_at(warp, lane, offset), std::min<std::uint64_t>(size, sizeof bits));
  return bits;
}
void write_stack(Warp& warp, unsigned lane, std::uint64_t offset, std::uint64_t bits,
                 std::uint64_t size, bool undefined) {
  std::memcpy(stack_at(warp, lane, offset), &bits, std::min<std::uint64_t>(size, sizeof bits));
  std::memset(flags_at(warp, lane, offset), undefined ? 0 : 1, size);
}

OperandLocation register_of(std::uint32_t row, std::uint64_t bytes) {
  return {OperandLocation::Base::registers, false, static_cast<std::uint8_t>(8 * bytes), row};
}

constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + 15) / 16 * 16;
}

} // namespace

std::uint32_t Engine::make_frame(Warp& warp, const Code& code, std::uint32_t caller,
                                 std::uint32_t lanes) {
  std::uint32_t id = 0;
  if (warp.free_frames.empty()) {
    id = static_cast<std::uint32_t>(warp.frames.size());
    warp.frames.emplace_back();
  } else {
    id = warp.free_frames.back();
    warp.free_frames.pop_back();
  }
  Frame& frame = warp.frames[id];
  frame.code = &code;
  frame.caller = caller;
  frame.live = lanes;
  frame.stack_base = 0;
  frame.depth = 1;
  if (caller != nowhere) {
    const Frame& from = warp.frames[caller];
    frame.stack_base = aligned(from.stack_base + from.code->stack_size);
    frame.depth = from.depth + 1;
  }
  const std::size_t rows = code.garbage.size();
  frame.rows.resize(rows);
  for (std::size_t row = 0; row < rows; ++row)
    frame.rows[row].fill(code.garbage[row]);
  frame.undefined.assign(rows, ~0U);
  frame.bits.assign(rows, 0);
  frame.iterations.assign(code.loops.size(), {});
  grow_stack(warp, frame.stack_base + code.stack_size);
  for_lanes(code.stack_size == 0 ? 0 : lanes, [&](unsigned lane) {
    std::memset(flags_at(warp, lane, frame.stack_base), 0, code.stack_size);
  });
  for (const StackSymbol& symbol : code.stack_symbols) {
    frame.rows[symbol.row].fill(frame.stack_base + symbol.offset);
    frame.undefined[symbol.row] = 0;
  }
  return id;
}

// The function that the first lane calls, and the lanes that call the same one.
Engine::Callee Engine::callee_of(const Warp& warp, const Frame& caller, const Ins& ins,
                                 const CallSite& site, std::uint32_t mask) const {
  Callee callee{ins.callee, mask};
  if (callee.code != nowhere || site.target.base == OperandLocation::Base::nothing) return callee;
  const Operands values = operands(warp, caller);
  const std::uint64_t address = values.lane(site.target, lowest(mask));
  for_lanes(mask, [&](unsigned lane) {
    if (values.lane(site.target, lane) != address) callee.lanes &= ~(1U << lane);
  });
  for (const auto& [function, index] : program_.code_of)
    if (function_address(function) == address) callee.code = index;
  return callee;
}

bool Engine::call(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  Fragment& f = warp.fragments[id];
  const std::uint32_t caller_id = f.frame;
  const CallSite& site = warp.frames[caller_id].code->calls[ins.targets.first];
  const auto [callee, together] = callee_of(warp, warp.frames[caller_id], ins, site, mask);
  if (together != f.mask) {
    // The others come to this instruction later, or skip it.
    const std::uint32_t skip = f.mask & ~mask, later = mask & ~together;
    const std::uint32_t pc = f.pc;
    std::vector<Successor> successors{{pc, together}};
    if (later != 0) successors.push_back({pc, later});
    if (skip != 0) successors.push_back({pc + 1, skip});
    diverge(warp, id, successors, pc + 1);
  }
  if (callee == nowhere) {
    fail(Result::Status::unsupported, warp, mask, ins, "this function is not known");
    return false;
  }
  const Code& target = *program_.codes[callee];
  if (target.external)
    return call_external(warp, warp.frames[caller_id], ins, site, target.name, together);
  if (target.parameters.size() != site.arguments.size() ||
      target.returns.size() < site.results.size()) {
    fail(Result::Status::undefined, warp, mask, ins, "the call does not fit the function");
    return false;
  }
  const std::uint32_t made = make_frame(warp, target, caller_id, together);
  Frame& frame = warp.frames[made];
  frame.call_pc = warp.fragments[id].pc;
  if (frame.depth > most_calls || frame.stack_base + target.stack_size > most_stack) {
    fail(Result::Status::budget, warp, mask, ins, "the calls are nested too deeply");
    return false;
  }
  pass_arguments(warp, warp.frames[caller_id], site, frame, together);
  Fragment& inside = warp.fragments[id];
  inside.frame = made;
  inside.pc = inside.last_pc = 0;
  return false;
}

void Engine::pass_arguments(Warp& warp, const Frame& caller, const CallSite& site, Frame& callee,
                            std::uint32_t mask) const {
  const Operands values = operands(warp, caller);
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const CallValue& from = site.arguments[i];
    const Parameter& to = callee.code->parameters[i];
    const std::uint64_t size = std::min(from.size, to.size);
    const std::uint64_t destination = callee.stack_base + to.offset;
    for_lanes(mask, [&](unsigned lane) {
      if (from.stack != nowhere)
        return copy_on_stack(warp, lane, destination, caller.stack_base + from.stack, size);
      const std::uint64_t bits = values.lane(from.place, lane);
      const bool undefined = values.is_undefined(from.place, lane);
      if (to.row == nowhere) return write_stack(warp, lane, destination, bits, size, undefined);
      const std::uint64_t kept =
          to.size >= 8 ? bits : bits & ((std::uint64_t{1} << (8 * to.size)) - 1);
      write(callee, register_of(to.row, to.size), lane, kept, 0, undefined);
    });
  }
}

// A fragment at the end of its function: back to the caller, or the end of its lanes.
void Engine::return_lanes(Warp& warp, std::uint32_t id) {
  Fragment& f = warp.fragments[id];
  const std::uint32_t inner_id = f.frame;
  Frame& inner = warp.frames[inner_id];
  if (inner.caller == nowhere) return exit_lanes(warp, id, f.mask);
  Frame& outer = warp.frames[inner.caller];
  const Ins& ins = outer.code->insts[inner.call_pc];
  const CallSite& site = outer.code->calls[ins.targets.first];
  const Operands values = operands(warp, inner);
  for (std::size_t i = 0; i < site.results.size(); ++i) {
    const CallValue& to = site.results[i];
    const Parameter& from = inner.code->returns[i];
    const std::uint64_t size = std::min(from.size, to.size);
    const std::uint64_t source = inner.stack_base + from.offset;
    for_lanes(f.mask, [&](unsigned lane) {
      if (from.row != nowhere) {
        const OperandLocation value = register_of(from.row, size);
        write(outer, to.place, lane, values.lane(value, lane), 0, values.is_undefined(value, lane));
      } else if (to.stack != nowhere) {
        copy_on_stack(warp, lane, outer.stack_base + to.stack, source, size);
      } else {
        write(outer, to.place, lane, read_stack(warp, lane, source, size), 0, false);
      }
    });
  }
  inner.live &= ~f.mask;
  if (inner.live == 0) warp.free_frames.push_back(inner_id);
  f.frame = inner.caller;
  f.last_pc = inner.call_pc;
  f.pc = inner.call_pc + 1;
}

bool Engine::call_external(Warp& warp, Frame& frame, const Ins& ins, const CallSite& site,
                           std::string_view callee, std::uint32_t mask) {
  const auto argument = [&](std::size_t i, unsigned lane) {
    if (i >= site.arguments.size()) return std::uint64_t{0};
    const CallValue& from = site.arguments[i];
    return from.stack == nowhere ? operands(warp, frame).lane(from.place, lane)
                                 : read_stack(warp, lane, frame.stack_base + from.stack, from.size);
  };
  if (callee == "__assertfail") {
    fail(Result::Status::trapped, warp, mask, ins, "an assertion of the kernel failed");
    return false;
  }
  const auto answer = [&](unsigned lane, std::uint32_t result) {
    for (const CallValue& to : site.results) {
      const std::uint64_t size = std::min<std::uint64_t>(to.size, sizeof result);
      if (to.stack == nowhere)
        write(frame, to.place, lane, result, 0, false);
      else
        write_stack(warp, lane, frame.stack_base + to.stack, result, size, false);
    }
  };
  const auto threads = static_cast<std::uint32_t>(block_threads_);
  for_lanes(mask, [&](unsigned lane) {
    if (callee == "vprintf") {
      print(warp, lane, argument(0, lane), argument(1, lane), ins);
      answer(lane, 0);
    } else if (callee == "omp_get_num_threads") {
      answer(lane, threads);
    } else if (callee == "omp_get_thread_num") {
      answer(lane, warp.index * warp_size + lane);
    } else {
      fail(Result::Status::unsupported, warp, mask, ins,
           fmt::format("the function {} has no body in this module", callee));
    }
  });
  return result_.ok();
}

// One printf of one thread: the format is a string, the values lie behind each other as C would
// pass them through "...", each at its natural alignment.
class Engine::Printer {
public:
  Printer(Engine& engine, Warp& warp, unsigned lane, std::uint64_t values, const Ins& ins)
      : engine_(engine), warp_(warp), frame_(warp.frames[warp.fragments[warp.turn].frame]),
        ins_(ins), lane_(lane), values_(values) {}

  void print(std::uint64_t format) {
    const std::string text = string(format);
    std::string& printed = engine_.result_.printed;
    for (std::size_t i = 0; i < text.size() && engine_.result_.ok(); ++i) {
      if (text[i] != '%') {
        printed += text[i];
        continue;
      }
      std::string spec = "%";
      while (++i < text.size() && std::strchr("-+ #0123456789.", text[i]) != nullptr)
        spec += text[i];
      bool wide = false;
      for (; i < text.size() && std::strchr("hljztL", text[i]) != nullptr; ++i)
        wide = wide || text[i] != 'h';
      printed += converted(spec, i < text.size() ? text[i] : '%', wide);
    }
  }

private:
  std::uint64_t read(std::uint64_t address, std::uint64_t bytes) {
    const auto found =
        engine_.reach(warp_, frame_, ins_, ptx::Space::generic, lane_, address, bytes, false);
    std::uint64_t bits = 0;
    if (found) std::memcpy(&bits, found->data, bytes);
    return bits;
  }

  std::string string(std::uint64_t address) {
    std::string text;
    while (engine_.result_.ok() && text.size() < 65536) {
      const char c = static_cast<char>(read(address + text.size(), 1));
      if (c == '\0') break;
      text += c;
    }
    return text;
  }

  // The next of the values.
  std::uint64_t next(std::uint64_t bytes) {
    values_ = (values_ + bytes - 1) / bytes * bytes;
    values_ += bytes;
    return read(values_ - bytes, bytes);
  }

  template <class Value> static std::string formatted(const std::string& form, Value value) {
    std::array<char, 512> out{};
    const int length = std::snprintf(out.data(), out.size(), form.c_str(), value);
    return {out.data(), std::min<std::size_t>(static_cast<unsigned>(length), out.size() - 1)};
  }

  std::string converted(const std::string& spec, char conversion, bool wide) {
    switch (conversion) {
    case '%': return "%";
    case 'c': return formatted(spec + 'c', static_cast<int>(next(4)));
    case 's': return formatted(spec + 's', string(next(8)).c_str());
    case 'p': return formatted("0x%llx", static_cast<unsigned long long>(next(8)));
    case 'd':
    case 'i':
      return formatted(spec + "lld",
                       wide ? static_cast<long long>(next(8))
                            : static_cast<long long>(static_cast<std::int32_t>(next(4))));
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return formatted(spec + "ll" + conversion,
                       static_cast<unsigned long long>(next(wide ? 8 : 4)));
    default: return formatted(spec + conversion, std::bit_cast<double>(next(8)));
    }
  }

  Engine& engine_;
  Warp& warp_;
  const Frame& frame_;
  const Ins& ins_;
  unsigned lane_;
  std::uint64_t values_; // the address of the next one
};

void Engine::print(Warp& warp, unsigned lane, std::uint64_t format, std::uint64_t values,
                   const Ins& ins) {
  Printer(*this, warp, lane, values, ins).print(format);
}

} // namespace ptxasw::simt
