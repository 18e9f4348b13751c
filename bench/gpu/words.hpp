// The contents of arrays, element by element, the same on the GPU and on the CPU: what the harness
// fills its buffers with, and what the interpreter's tests give a kernel whose results a GPU left
// behind (bench/results/h200/suites.txt).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __CUDACC__
#define HARNESS_BOTH __host__ __device__
#else
#define HARNESS_BOTH
#endif

namespace harness {

enum class Pattern : int { poison, f32, f64, f16, i32, index, rows8, zero, bits, bits64 };

HARNESS_BOTH inline std::uint64_t mix(std::uint64_t x) { // splitmix64
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

template <class To, class From> HARNESS_BOTH To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// The bits of element i: floats in [0.5, 1.5) (f16: two in [0.5, 1)), integers of all bits, indices
// below `limit`, rising starts of rows, zeros, or raw bits (NaNs and infinities among them; no NaNs
// in f64: of two f64 NaNs an operation keeps the payload of one, and which one PTX does not say).
HARNESS_BOTH inline std::uint64_t element(Pattern pattern, std::uint64_t seed, std::uint64_t limit,
                                          std::uint64_t i) {
  const std::uint64_t r = mix(seed * 0x2545F4914F6CDD1Dull + i);
  switch (pattern) {
  case Pattern::poison: return 0xFFA5A5A5u ^ static_cast<std::uint32_t>(seed);
  case Pattern::f32: return bits_as<std::uint32_t>(0.5f + 0x1p-24f * static_cast<float>(r >> 40));
  case Pattern::f64: return bits_as<std::uint64_t>(0.5 + 0x1p-53 * static_cast<double>(r >> 11));
  case Pattern::bits64: {
    const bool nan = (r >> 52 & 0x7FF) == 0x7FF && (r & 0xFFFFFFFFFFFFFull) != 0;
    return nan ? r ^ (1ull << 62) : r;
  }
  case Pattern::f16: return 0x38003800u | (r & 0x03FF03FFu); // [0.5, 1)
  case Pattern::index: return static_cast<std::uint32_t>(r % limit);
  case Pattern::rows8: return static_cast<std::uint32_t>(8 * i + r % 8);
  case Pattern::zero: return 0;
  case Pattern::i32:
  case Pattern::bits: break;
  }
  return static_cast<std::uint32_t>(r);
}

HARNESS_BOTH constexpr unsigned element_bytes(Pattern pattern) {
  return pattern == Pattern::f64 || pattern == Pattern::bits64 ? 8 : 4;
}

// What an array of a type holds: its own kind of values, or raw bits.
inline Pattern pattern_of(std::string_view type, bool bits) {
  if (type == "index") return Pattern::index;
  if (type == "rows8") return Pattern::rows8;
  if (type == "zero") return Pattern::zero;
  if (type == "f64") return bits ? Pattern::bits64 : Pattern::f64;
  if (bits || type == "u8") return Pattern::bits;
  if (type == "f16") return Pattern::f16;
  return type == "f32" ? Pattern::f32 : Pattern::i32;
}

// FNV-1a, 64 bits.
inline std::uint64_t digest(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (std::size_t i = 0; i < count; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001B3ull;
  return hash;
}

} // namespace harness
