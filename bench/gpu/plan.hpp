// A plan is what the harness runs: one case after another, each a kernel with its launch, its
// arguments and the cubins to compare. bench/gpu/prepare writes it as plain text, one item a line,
// so that the harness needs no JSON reader:
//
//   case jacobi/8192x8192         entry jacobi          grid 16 8190 1      block 512 1 1
//   array in f32 67108864         array out f32 67108864
//   word 4 2000                   region in 1024        (hexadecimal value; trap memory + bytes)
//   fill in 0 -1024 8192 7 3 0    words k of region in + 0: 7 * k + 3, modulo 0 (none)
//   steps 8    l2 warm            variant plain plain/jacobi.cubin valid 1 1 1
//   end
//
// The last three numbers of a variant: by what its host divides the grid (--coarsen-grid=host).
// Behind them may stand its entry, if that is another one, and how it is launched: `plain`, `grid`
// (its grid is rounded up, and the original one is its last parameter: an entry of a launch
// contract), `rest` (likewise, but what fills no group follows block by block), or `launcher`
// (through whatever library is preloaded; all others go around it).
//
// A record of results is a plan too, with `digest floats HEX...` in its cases.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace harness {

enum class Kind { array, word, region };

struct Param {
  Kind kind = Kind::word;
  std::string role;        // array: in, out, inout; region: in, out, x
  std::string type;        // array: f32, f64, f16, u8, i32, index, rows8, zero
  std::uint64_t count = 0; // array: elements
  std::uint64_t value = 0; // word: its bits; region: the offset in bytes
  unsigned bytes = 8;      // of the parameter
};
inline std::size_t bytes_of(const Param& array) {
  const std::string& type = array.type;
  return array.count * (type == "f64" ? 8 : type == "f16" ? 2 : type == "u8" ? 1 : 4);
}

// Initial contents of trap memory: word k, for `count` words from `first`, holds a * k + b (mod m).
struct Fill {
  std::string region;
  std::int64_t offset = 0, first = 0, count = 0, a = 0, b = 0, m = 0;
};

// Memory after a launch: of each array, in parameter order.
struct Digest {
  std::string data; // floats, bits
  std::vector<std::uint64_t> arrays;
};

struct Variant {
  std::string name, cubin;
  bool valid = true;                        // false: a study that computes wrong results on purpose
  std::array<unsigned, 3> divided{1, 1, 1}; // the grid is launched so many times smaller
  std::string entry, how = "plain";         // no entry: that of the case
};

struct Case {
  std::string name, entry, l2 = "rotate";
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<Param> params;
  std::vector<Fill> fills; // not empty: a trap kernel
  std::vector<Variant> variants;
  std::vector<Digest> digests; // in records of what a GPU left behind
  unsigned steps = 1;
};

inline void read_item(const std::string& key, std::istream& in, Case& c) {
  if (key == "entry") {
    in >> c.entry;
  } else if (key == "grid") {
    in >> c.grid[0] >> c.grid[1] >> c.grid[2];
  } else if (key == "block") {
    in >> c.block[0] >> c.block[1] >> c.block[2];
  } else if (key == "array") {
    Param p;
    p.kind = Kind::array;
    in >> p.role >> p.type >> p.count;
    c.params.push_back(p);
  } else if (key == "word") {
    Param p;
    p.kind = Kind::word;
    in >> std::dec >> p.bytes >> std::hex >> p.value;
    c.params.push_back(p);
  } else if (key == "region") {
    Param p;
    p.kind = Kind::region;
    in >> p.role >> p.value;
    c.params.push_back(p);
  } else if (key == "fill") {
    Fill f;
    in >> f.region >> f.offset >> f.first >> f.count >> f.a >> f.b >> f.m;
    c.fills.push_back(f);
  } else if (key == "steps") {
    in >> c.steps;
  } else if (key == "l2") {
    in >> c.l2;
  } else if (key == "variant") {
    Variant v;
    std::string validity;
    in >> v.name >> v.cubin >> validity >> v.divided[0] >> v.divided[1] >> v.divided[2];
    v.valid = validity == "valid";
    if (in && !(in >> v.entry >> v.how)) in.clear();
    c.variants.push_back(v);
  } else if (key == "digest") {
    Digest d;
    in >> d.data >> std::hex;
    for (std::uint64_t value = 0; in >> value;)
      d.arrays.push_back(value);
    in.clear();
    c.digests.push_back(d);
  } else {
    throw std::runtime_error("plan: unknown item " + key);
  }
  if (!in) throw std::runtime_error("plan: malformed " + key + " in case " + c.name);
}

inline std::vector<Case> read_plan(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string key;
    if (!(in >> key) || key == "end" || key[0] == '#') continue;
    if (key == "case") {
      cases.emplace_back();
      in >> cases.back().name;
    } else if (cases.empty()) {
      throw std::runtime_error("plan: " + key + " before the first case");
    } else {
      read_item(key, in, cases.back());
    }
  }
  return cases;
}

} // namespace harness
