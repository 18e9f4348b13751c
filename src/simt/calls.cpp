// Calls of device functions, returns, and the functions of the CUDA device runtime that PTX from
// compilers calls by name: vprintf and __assertfail.
#include "simt/engine.hpp"

#include "semantics/windows.hpp"

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

bool Engine::call(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  Fragment& f = warp.fragments[id];
  const std::uint32_t caller_id = f.frame;
  const Code& code = *warp.frames[caller_id].code;
  const CallSite& site = code.calls[ins.targets.first];
  std::uint32_t callee = ins.callee;
  std::uint32_t together = mask; // lanes that call the same function
  if (callee == nowhere && site.target.base != OperandLocation::Base::nothing) {
    const Operands values = operands(warp, warp.frames[caller_id]);
    const std::uint64_t address = values.lane(site.target, lowest(mask));
    for_lanes(mask, [&](unsigned lane) {
      if (values.lane(site.target, lane) != address) together &= ~(1U << lane);
    });
    for (const auto& [function, index] : program_.code_of)
      if (function_address(function) == address) callee = index;
  }
  if (together != f.mask) {
    // The others come to this instruction later, or skip it.
    const std::uint32_t skip = f.mask & ~mask, later = mask & ~together;
    const std::uint32_t pc = f.pc;
    std::vector<Successor> ways{{pc, together}};
    if (later != 0) ways.push_back({pc, later});
    if (skip != 0) ways.push_back({pc + 1, skip});
    diverge(warp, id, ways, pc + 1);
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
  Frame& caller = warp.frames[caller_id];
  frame.call_pc = warp.fragments[id].pc;
  if (frame.depth > most_calls || frame.stack_base + target.stack_size > most_stack) {
    fail(Result::Status::budget, warp, mask, ins, "the calls are nested too deeply");
    return false;
  }
  const Operands values = operands(warp, caller);
  for (std::size_t i = 0; i < target.parameters.size(); ++i) {
    const CallValue& from = site.arguments[i];
    const Parameter& to = target.parameters[i];
    const std::uint64_t size = std::min(from.size, to.size);
    for_lanes(together, [&](unsigned lane) {
      if (from.stack != nowhere) {
        const std::uint64_t source = caller.stack_base + from.stack;
        const std::uint64_t destination = frame.stack_base + to.offset;
        std::memcpy(stack_at(warp, lane, destination), stack_at(warp, lane, source), size);
        std::memcpy(flags_at(warp, lane, destination), flags_at(warp, lane, source), size);
        return;
      }
      const std::uint64_t bits = values.lane(from.place, lane);
      const bool undefined = (values.undefined_lanes(from.place) >> lane & 1) != 0;
      if (to.row != nowhere) {
        const auto width = static_cast<std::uint8_t>(8 * to.size);
        const std::uint64_t kept = to.size >= 8 ? bits : bits & ((std::uint64_t{1} << width) - 1);
        write(frame, {OperandLocation::Base::registers, false, width, to.row}, lane, kept, 0,
              undefined);
      } else {
        std::memcpy(stack_at(warp, lane, frame.stack_base + to.offset), &bits,
                    std::min<std::uint64_t>(size, 8));
        std::memset(flags_at(warp, lane, frame.stack_base + to.offset), undefined ? 0 : 1, size);
      }
    });
  }
  Fragment& inside = warp.fragments[id];
  inside.frame = made;
  inside.pc = inside.last_pc = 0;
  return false;
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
    for_lanes(f.mask, [&](unsigned lane) {
      if (from.row != nowhere) {
        const OperandLocation source{OperandLocation::Base::registers, false,
                                     static_cast<std::uint8_t>(8 * size), from.row};
        write(outer, to.place, lane, values.lane(source, lane), 0,
              (values.undefined_lanes(source) >> lane & 1) != 0);
      } else if (to.stack != nowhere) {
        const std::uint64_t source = inner.stack_base + from.offset;
        const std::uint64_t destination = outer.stack_base + to.stack;
        std::memcpy(stack_at(warp, lane, destination), stack_at(warp, lane, source), size);
        std::memcpy(flags_at(warp, lane, destination), flags_at(warp, lane, source), size);
      } else {
        std::uint64_t bits = 0;
        std::memcpy(&bits, stack_at(warp, lane, inner.stack_base + from.offset),
                    std::min<std::uint64_t>(size, 8));
        write(outer, to.place, lane, bits, 0, false);
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
    std::uint64_t bits = 0;
    if (i >= site.arguments.size()) return bits;
    const CallValue& from = site.arguments[i];
    if (from.stack == nowhere) return operands(warp, frame).lane(from.place, lane);
    std::memcpy(&bits, stack_at(warp, lane, frame.stack_base + from.stack),
                std::min<std::uint64_t>(from.size, 8));
    return bits;
  };
  if (callee == "__assertfail") {
    fail(Result::Status::trapped, warp, mask, ins, "an assertion of the kernel failed");
    return false;
  }
  const auto answer = [&](unsigned lane, std::uint32_t result) {
    for (const CallValue& to : site.results) {
      if (to.stack == nowhere) {
        write(frame, to.place, lane, result, 0, false);
        continue;
      }
      const std::uint64_t size = std::min<std::uint64_t>(to.size, sizeof result);
      std::memcpy(stack_at(warp, lane, frame.stack_base + to.stack), &result, size);
      std::memset(flags_at(warp, lane, frame.stack_base + to.stack), 1, size);
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
void Engine::print(Warp& warp, unsigned lane, std::uint64_t format, std::uint64_t values,
                   const Ins& ins) {
  const Frame& frame = warp.frames[warp.fragments[warp.turn].frame];
  const auto read = [&](std::uint64_t address, std::uint64_t bytes) -> std::uint64_t {
    const auto found = reach(warp, frame, ins, ptx::Space::generic, lane, address, bytes, false);
    std::uint64_t bits = 0;
    if (found) std::memcpy(&bits, found->data, bytes);
    return bits;
  };
  const auto string = [&](std::uint64_t address) {
    std::string text;
    while (result_.ok() && text.size() < 65536) {
      const char c = static_cast<char>(read(address + text.size(), 1));
      if (c == '\0') break;
      text += c;
    }
    return text;
  };
  const auto next = [&](std::uint64_t bytes) {
    values = (values + bytes - 1) / bytes * bytes;
    values += bytes;
    return read(values - bytes, bytes);
  };
  const std::string text = string(format);
  for (std::size_t i = 0; i < text.size() && result_.ok(); ++i) {
    if (text[i] != '%') {
      result_.printed += text[i];
      continue;
    }
    std::string spec = "%";
    while (++i < text.size() && std::strchr("-+ #0123456789.", text[i]) != nullptr)
      spec += text[i];
    bool wide = false;
    for (; i < text.size() && std::strchr("hljztL", text[i]) != nullptr; ++i)
      wide = wide || text[i] != 'h';
    const char conversion = i < text.size() ? text[i] : '%';
    std::array<char, 512> out{};
    const auto emit = [&](const std::string& form, auto value) {
      const int length = std::snprintf(out.data(), out.size(), form.c_str(), value);
      result_.printed.append(out.data(), std::min<std::size_t>(static_cast<unsigned>(length), 511));
    };
    switch (conversion) {
    case '%': result_.printed += '%'; break;
    case 'c': emit(spec + 'c', static_cast<int>(next(4))); break;
    case 's': emit(spec + 's', string(next(8)).c_str()); break;
    case 'p': emit("0x%llx", static_cast<unsigned long long>(next(8))); break;
    case 'd':
    case 'i':
      emit(spec + "lld", wide ? static_cast<long long>(next(8))
                              : static_cast<long long>(static_cast<std::int32_t>(next(4))));
      break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      emit(spec + "ll" + conversion, static_cast<unsigned long long>(next(wide ? 8 : 4)));
      break;
    default: emit(spec + conversion, std::bit_cast<double>(next(8))); break;
    }
  }
}

} // namespace ptxasw::simt
