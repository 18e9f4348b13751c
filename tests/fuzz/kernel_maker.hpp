// A kernel is a prologue (where this thread is), an optional guard, and a tree of statements:
// groups of neighbouring loads, arithmetic, stores, branches, loops, barriers, shared memory,
// atomics. Registers live in pools; what a nested block defines goes out of scope with it, so that
// nothing undefined is read.
#pragma once

#include "fuzz/generator.hpp"
#include "fuzz/writer.hpp"

namespace ptxasw::fuzz {

// How an element is loaded.
struct Element {
  std::string_view type; // as in ld.global.TYPE
  unsigned bytes;        // of one element
  Class reg;             // that receives it
};

class KernelMaker {
public:
  explicit KernelMaker(std::uint64_t seed) : w_(seed), calm_(w_.one_in(2)), odd_(w_.one_in(2)) {}
  std::string run();
  std::string run_trees();

private:
  // prologue.cpp
  [[nodiscard]] std::string text();
  std::string special(std::string_view name);
  std::string position(char axis);
  std::string extent(char axis);
  std::string pointer(std::string_view name);
  void prologue();
  std::string make_index(const std::string& z);
  void guard();
  void block_guard();
  std::string constant_float();
  std::string constant_double();
  std::string sign();

  // statements.cpp
  void statement(unsigned depth, bool divergent);
  void block(unsigned depth, bool divergent);
  bool condition(const std::string& p);
  void branch(unsigned depth, bool divergent);
  void loop(unsigned depth, bool divergent);
  void arithmetic();
  void overwrite();
  void slot();
  void scope(unsigned depth, bool divergent);
  void hiding_scope(unsigned depth, bool divergent);
  void store();
  std::string predicated();
  void in_place();
  void synchronize(bool divergent);
  void atomic();
  void through_shared();
  void tree();
  void march();
  void call();

  // trees.cpp
  static constexpr int second_array = 4112;
  struct Levels;
  void levels();
  void loop_of(Levels& l, const std::string& tile);
  void unrolled(Levels& l, const std::string& tile);
  std::string barrier(const std::string& p);
  void read_by_call(const Levels& l, const std::string& at, int offset);
  void leave_by_call();
  void level(Levels& l, const std::string& tile, const std::string& width, const std::string& next);
  void read_behind(Levels& l, const std::string& tile);
  void meet_ahead(const Levels& l);
  std::string operation(const Levels& l);

  // meetings.cpp
  void ordered();
  void count_in_shared();

  // odd.cpp
  void odd(unsigned depth, bool divergent);
  void odd_index();
  void odd_condition(const std::string& p);
  void own_pointer();
  void own_words();
  void chosen_pointer();
  void odd_arithmetic();
  void halves();
  void tables();
  void cases(unsigned depth, bool divergent);
  void loop_with_break(unsigned depth, bool divergent);
  void generic_march();
  void leave_early();

  // loads.cpp
  std::string address(const std::string& base, const std::string& index, unsigned bytes);
  std::string long_address(const std::string& base, const std::string& index, std::int64_t k,
                           unsigned bytes);
  std::string neighbour(const std::string& index, std::int64_t k);
  std::string qualifiers(bool read_only);
  void group();
  void load(const std::string& at, std::int64_t offset, const std::string& how,
            const Element& element, unsigned vector);
  void load_in_scope(const std::string& at, std::int64_t offset, const std::string& how,
                     const Element& element);
  void zero(const std::string& r, Class c);
  void consume(const std::string& r, Class c);

  Writer w_;
  bool calm_; // nothing by which blocks could watch each other, so that they may be merged
  bool odd_;  // with statements of odd.cpp
  std::vector<std::string> inputs_;
  std::string in_place_, own_, out_, n_, m_, x_, y_, linear_, total_, plane_, base_index_;
  std::string acc_, facc_, dacc_;
  std::vector<std::string> ints_, floats_, doubles_, indices_;
  // Registers written again and again; the first is never given what differs between rows.
  std::array<std::string, 2> slots_;
  bool shared_ = false, function_ = false, table_ = false, local_ = false, words_ = false;
  bool early_exit_ = false; // some threads may have left: their words of the tile are not written
};

} // namespace ptxasw::fuzz
