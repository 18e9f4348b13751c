// Device memory of one case: either the kernel's arrays, each between two guard zones, or the arena
// of a trap kernel. Everything a launch could have touched is compared, guards and inputs included.
#pragma once

#include "device.hpp"
#include "plan.hpp"

#include <algorithm>
#include <string_view>

namespace harness {

constexpr unsigned fill_blocks = 1056, fill_threads = 256;

struct Mismatch {
  std::uint64_t words = 0, first = 0;
  std::string where;
};

// The runtime's <<<>>> reports a launch that never started only here.
inline void launched(const char* what) {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

inline std::uint32_t* words_at(CUdeviceptr at) {
  return reinterpret_cast<std::uint32_t*>(at);
}

inline Mismatch compare(CUdeviceptr x, CUdeviceptr y, std::size_t bytes, std::string where) {
  Buffer result(16);
  const unsigned long long none[2] = {0, ~0ull};
  check(cuMemcpyHtoD(result.at(), none, sizeof none), "cuMemcpyHtoD");
  compare_words<<<fill_blocks, fill_threads>>>(words_at(x), words_at(y), bytes / 4,
                                               reinterpret_cast<unsigned long long*>(result.at()));
  launched("comparing");
  unsigned long long found[2];
  check(cuMemcpyDtoH(found, result.at(), sizeof found), "comparing");
  return {found[0], found[1], std::move(where)};
}

class Arrays {
public:
  static constexpr std::size_t guard = std::size_t{256} << 10;

  explicit Arrays(const Case& c) : case_(c) {
    for (const Param& p : c.params)
      if (p.kind == Kind::array) buffers_.emplace_back(padded(p) + 2 * guard);
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Buffer& b : buffers_)
      sum += b.bytes();
    return sum;
  }

  // Inputs get random elements (raw bits when asked), outputs and guards a poison of this seed. The
  // arrays of a stepped case feed each other, so all of them are inputs.
  void fill(std::uint64_t seed, bool bits) {
    std::size_t n = 0;
    for (const Param& p : case_.params) {
      if (p.kind != Kind::array) continue;
      const Buffer& b = buffers_[n++];
      fill_words<<<fill_blocks, fill_threads>>>(words_at(b.at()), b.bytes() / 4, Pattern::poison,
                                                seed, 1);
      if (p.role == "out" && case_.steps == 1) continue;
      const Pattern pattern = pattern_of(p.type, bits);
      const std::uint64_t each = element_bytes(pattern); // narrow types go by words
      fill_words<<<fill_blocks, fill_threads>>>(
          words_at(b.at() + guard), (bytes_of(p) + each - 1) / each, pattern, seed + 1000 * n,
          std::max<std::uint64_t>(p.count, 1));
    }
    launched("filling");
    check(cuCtxSynchronize(), "filling");
  }

  // Parameter values of the given time step; odd steps swap the first two arrays.
  std::vector<std::uint64_t> arguments(unsigned step) const {
    std::vector<std::uint64_t> values;
    std::vector<std::size_t> places;
    std::size_t n = 0;
    for (const Param& p : case_.params) {
      if (p.kind == Kind::array) places.push_back(values.size());
      values.push_back(p.kind == Kind::array ? buffers_[n++].at() + guard : p.value);
    }
    if (step % 2 == 1 && places.size() >= 2) std::swap(values[places[0]], values[places[1]]);
    return values;
  }

  // Of each array, guards left out.
  std::vector<std::uint64_t> digests() const {
    std::vector<std::uint64_t> all;
    std::size_t n = 0;
    for (const Param& p : case_.params) {
      if (p.kind != Kind::array) continue;
      std::vector<std::uint8_t> bytes(bytes_of(p));
      check(cuMemcpyDtoH(bytes.data(), buffers_[n++].at() + guard, bytes.size()), "cuMemcpyDtoH");
      all.push_back(digest(bytes.data(), bytes.size()));
    }
    return all;
  }

  // The first array that differs.
  Mismatch compare_with(const Arrays& other) const {
    std::size_t n = 0;
    for (const Param& p : case_.params) {
      if (p.kind != Kind::array) continue;
      Mismatch found = compare(buffers_[n].at(), other.buffers_[n].at(), buffers_[n].bytes(),
                               p.role + " array " + std::to_string(n));
      if (found.words) return found;
      ++n;
    }
    return {};
  }

private:
  static std::size_t padded(const Param& p) { return (bytes_of(p) + 255) / 256 * 256; }

  const Case& case_;
  std::vector<Buffer> buffers_;
};

// Memory of a trap kernel: the regions in, out and x, with zeros around and between them.
class Arena {
public:
  static constexpr std::size_t slack = std::size_t{1} << 20;

  explicit Arena(const Case& c) : case_(c) {
    std::size_t high = 0;
    for (const Fill& f : c.fills)
      if (f.region == "in") high = std::max(high, static_cast<std::size_t>(f.offset));
    out_ = slack + high + slack;
    x_ = out_ + 2 * slack;
    memory_ = Buffer(x_ + slack);
  }

  CUdeviceptr base(std::string_view region) const {
    return memory_.at() + (region == "in" ? slack : region == "out" ? out_ : x_);
  }
  const Buffer& memory() const { return memory_; }

  void fill() {
    check(cuMemsetD8(memory_.at(), 0, memory_.bytes()), "cuMemsetD8");
    for (const Fill& f : case_.fills)
      fill_line<<<64, 256>>>(reinterpret_cast<std::int32_t*>(base(f.region) + f.offset), f.first,
                             f.count, f.a, f.b, f.m);
    launched("filling");
    check(cuCtxSynchronize(), "filling");
  }

  std::vector<std::uint64_t> arguments() const {
    std::vector<std::uint64_t> values;
    for (const Param& p : case_.params)
      values.push_back(p.kind == Kind::region ? base(p.role) + p.value : p.value);
    return values;
  }

  // FNV-1a (64 bits) over `count` words from word `first` of a region, as the CPU interpreter's
  // tests compute it.
  std::uint64_t digest(std::string_view region, std::int64_t first, std::size_t count) const {
    std::vector<std::uint8_t> bytes(4 * count);
    check(cuMemcpyDtoH(bytes.data(), base(region) + 4 * first, bytes.size()), "cuMemcpyDtoH");
    return harness::digest(bytes.data(), bytes.size());
  }

private:
  const Case& case_;
  std::size_t out_ = 0, x_ = 0;
  Buffer memory_;
};

} // namespace harness
