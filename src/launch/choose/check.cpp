// Copies memory, runs each way on the same bytes, and compares.
#include "launch/choose/check.hpp"

#include "launch/kernels/shapes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 30; // kept on the host, twice

// The allocations that parameters lead to, by their address.
class Allocations {
public:
  void find(const void* parameter, std::size_t size) {
    for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= size; at += sizeof(CUdeviceptr)) {
      CUdeviceptr value = 0;
      std::memcpy(&value, static_cast<const char*>(parameter) + at, sizeof value);
      if (value == 0) continue;
      add(value);
      add(value - 1); // it may be an end
    }
  }
  [[nodiscard]] const std::map<CUdeviceptr, std::size_t>& all() const { return all_; }

private:
  void add(CUdeviceptr at) {
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    if (driver().mem_get_address_range(&base, &bytes, at) == CUDA_SUCCESS) all_[base] = bytes;
  }
  std::map<CUdeviceptr, std::size_t> all_;
};

using Bytes = std::vector<std::vector<unsigned char>>; // of each range

class Checker {
public:
  Checker(const Kernel& kernel, const Request& request, CheckMemory& memory,
          std::chrono::milliseconds longest_wait)
      : kernel_(kernel), request_(request), memory_(memory), longest_wait_(longest_wait) {}
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  ~Checker() {
    if (at_ != 0) memory_.give_back(at_);
  }

  Checked run(const Candidate& own, const std::vector<Candidate>& others) {
    if (const std::string why = prepare(); !why.empty()) return {.text = why};
    Bytes first;
    if (!goes(own, first)) return {.text = "the launch fails by itself, or memory cannot be read"};
    for (const Candidate& way : others) {
      Bytes now;
      write_back();
      if (way.run(redirected_, copies_) != CUDA_SUCCESS) continue; // it would not be taken either
      if (!read(now))
        return {Checked::Outcome::differs, way.name + " fails where the original does not"};
      const std::string what = difference(first, now);
      if (what.empty()) continue;
      // What adds floats atomically need not leave the same bytes again.
      if (Bytes again; goes(own, again) && !difference(first, again).empty())
        return {.text = "the kernel does not repeat itself"};
      return {Checked::Outcome::differs, way.name + " differs in " + what};
    }
    return {.outcome = Checked::Outcome::equal};
  }

private:
  // Empty, or why it cannot be done.
  std::string prepare() {
    const Driver& d = driver();
    if (!d.func_get_param_info || !d.mem_get_address_range || !d.copy_to_host ||
        !d.copy_to_device || !d.stream_synchronize || !d.stream_query)
      return "this driver does not tell about parameters or memory";
    if (is_capturing(request_.stream)) return "the stream is being captured";
    Allocations found;
    for (unsigned n = 0; n < kernel_.contract.parameters; ++n) {
      std::size_t offset = 0, size = 0;
      const bool told = d.func_get_param_info(kernel_.function, n, &offset, &size) == CUDA_SUCCESS;
      const auto* const value = static_cast<const unsigned char*>(
          told ? parameter_of(request_, n, offset, size) : nullptr);
      if (value == nullptr)
        return "this driver does not tell about parameters, or they come in another form";
      found.find(value, size);
      parameters_.emplace_back(value, value + size);
    }
    std::size_t all = 0;
    for (const auto& [base, bytes] : found.all()) {
      copies_.add(base, bytes);
      all += bytes;
    }
    if (all > most_bytes) return "too much memory";
    if (!ends_in_time()) return "what was launched before does not end";
    at_ = memory_.take(std::max<std::size_t>(1, copies_.bytes()));
    if (at_ == 0) return "there is no room for a copy of its memory";
    copies_.place_at(at_);
    for (const Copies::Range& range : copies_.ranges())
      if (!read(before_.emplace_back(range.bytes), range.base)) return "memory cannot be read";
    redirected_ = request_;
    redirected_.extra = nullptr;
    for (std::vector<unsigned char>& parameter : parameters_) {
      copies_.redirect(parameter);
      pointers_.push_back(parameter.data());
    }
    redirected_.parameters = pointers_.data();
    return {};
  }

  // It may wait for the thread that launches.
  [[nodiscard]] bool ends_in_time() const {
    const auto end = std::chrono::steady_clock::now() + longest_wait_;
    CUresult state = CUDA_SUCCESS;
    while ((state = driver().stream_query(request_.stream)) == CUDA_ERROR_NOT_READY) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return state == CUDA_SUCCESS;
  }

  bool read(std::vector<unsigned char>& into, CUdeviceptr from) const {
    return driver().copy_to_host(into.data(), from, into.size(), request_.stream) == CUDA_SUCCESS &&
           driver().stream_synchronize(request_.stream) == CUDA_SUCCESS;
  }

  // The copies, when what was launched has ended.
  bool read(Bytes& into) const {
    if (driver().stream_synchronize(request_.stream) != CUDA_SUCCESS) return false;
    for (const Copies::Range& range : copies_.ranges())
      if (!read(into.emplace_back(range.bytes), copies_.copy_of(range))) return false;
    return true;
  }

  void write_back() const {
    for (std::size_t n = 0; n < before_.size(); ++n)
      driver().copy_to_device(copies_.copy_of(copies_.ranges()[n]), before_[n].data(),
                              before_[n].size(), request_.stream);
    driver().stream_synchronize(request_.stream);
  }

  bool goes(const Candidate& way, Bytes& into) const {
    write_back();
    return way.run(redirected_, copies_) == CUDA_SUCCESS && read(into);
  }

  static std::string difference(const Bytes& first, const Bytes& now) {
    for (std::size_t b = 0; b < first.size(); ++b) {
      if (std::memcmp(first[b].data(), now[b].data(), first[b].size()) == 0) continue;
      const auto at =
          static_cast<std::size_t>(std::ranges::mismatch(first[b], now[b]).in1 - first[b].begin());
      return "buffer " + std::to_string(b + 1) + " of " + std::to_string(first.size()) + " (" +
             std::to_string(first[b].size()) + " bytes) at byte " + std::to_string(at) + ": " +
             std::to_string(first[b][at]) + " became " + std::to_string(now[b][at]);
    }
    return {};
  }

  const Kernel& kernel_;
  const Request& request_;
  CheckMemory& memory_;
  const std::chrono::milliseconds longest_wait_;
  CUdeviceptr at_ = 0;
  Copies copies_;
  Bytes before_;
  std::vector<std::vector<unsigned char>> parameters_; // redirected
  std::vector<void*> pointers_;
  Request redirected_;
};

} // namespace

// --- Copies --------------------------------------------------------------------------------------

void Copies::add(CUdeviceptr base, std::size_t bytes) {
  constexpr std::size_t close = 1 << 20, aligned = 1 << 12;
  std::size_t offset = base % aligned;
  if (!ranges_.empty()) {
    const Range& last = ranges_.back();
    const std::size_t end = last.offset + last.bytes, gap = base - (last.base + last.bytes);
    offset = gap <= close ? end + gap : (end + close) / aligned * aligned + offset;
  }
  ranges_.push_back({base, bytes, offset});
}

std::size_t Copies::bytes() const {
  return ranges_.empty() ? 0 : ranges_.back().offset + ranges_.back().bytes;
}

void Copies::redirect(std::span<unsigned char> parameter) const {
  for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= parameter.size();
       at += sizeof(CUdeviceptr)) {
    CUdeviceptr value = 0;
    std::memcpy(&value, &parameter[at], sizeof value);
    const auto behind = std::ranges::upper_bound(ranges_, value, {}, &Range::base);
    if (behind == ranges_.begin()) continue;
    const Range& range = *std::prev(behind);
    if (value - range.base > range.bytes) continue;
    value = copy_of(range) + (value - range.base);
    std::memcpy(&parameter[at], &value, sizeof value);
  }
}

CUdeviceptr CheckMemory::take(std::size_t bytes) {
  const Relaxed relaxed; // another thread may be capturing
  CUcontext context = nullptr;
  if (driver().ctx_get_current == nullptr || driver().ctx_get_current(&context) != CUDA_SUCCESS)
    return 0;
  std::size_t largest = 0;
  for (;;) {
    Allocation found;
    {
      const std::lock_guard lock(mutex_);
      for (Room& room : rooms_) {
        if (room.memory.context != context || room.is_taken) continue;
        largest = std::max(largest, room.memory.bytes);
        if (room.memory.bytes < bytes) continue;
        room.is_taken = true;
        found = room.memory;
        break;
      }
    }
    if (found.at == 0) break;
    if (is_there(found)) return found.at;
    const std::lock_guard lock(mutex_);
    std::erase_if(rooms_, [&](const Room& room) { return room.memory.number == found.number; });
  }
  auto made = allocate(std::max(bytes, 2 * largest));
  if (!made && 2 * largest > bytes) made = allocate(bytes);
  if (!made) return 0;
  const std::lock_guard lock(mutex_);
  rooms_.push_back({*made, true});
  return made->at;
}

void CheckMemory::give_back(CUdeviceptr at) {
  const std::lock_guard lock(mutex_);
  for (Room& room : rooms_)
    if (room.memory.at == at) room.is_taken = false;
}

// -------------------------------------------------------------------------------------------------

Checked check(const Kernel& kernel, const Request& request, const Candidate& own,
              const std::vector<Candidate>& others, CheckMemory& memory,
              std::chrono::milliseconds longest_wait) {
  return Checker(kernel, request, memory, longest_wait).run(own, others);
}

} // namespace ptxasw::launch
