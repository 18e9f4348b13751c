// Running ptxas on texts of our own making, with everything it answers kept in memory.
#pragma once

#include "driver/environment.hpp"
#include "driver/process.hpp"
#include "ptxasw/assembler.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::driver {

// The arguments with which ptxas reads the file `source` and writes the file `cubin`.
using Arguments = std::function<std::vector<std::string>(
    const AssemblyRequest& request, const std::string& source, const std::string& cubin)>;

// How long ptxas may take with texts of ours, in processor time and in terms of what it takes with
// as many bytes of the original: copies of bodies and entries for several time steps make a text
// many times as long. Before that is known there is no limit: what needs it is asked first.
class Patience {
public:
  // Whole seconds, at least one; 0: the trials have used up theirs.
  [[nodiscard]] unsigned with(const AssemblyRequest& request) const;
  void took(const AssemblyRequest& request, double seconds, bool well);

  // Told of each text of a call that has come to its end; may be empty.
  std::function<void(std::size_t ended, std::size_t of)> watch;

private:
  [[nodiscard]] double longer(const AssemblyRequest& request) const;

  std::map<std::vector<std::string>, double> own_; // of the original, by the kernels asked for
  std::size_t bytes_ = 0;                          // of its text
  double trials_ = 0;                              // all of them together
  double texts_ = 0;                               // and how many times the original's text
};

// All requests, several at a time; nothing for those that ptxas would not take or took too long
// for, and `refusal` says what it said. `interrupted` is set to the signal that we were sent
// meanwhile; then nothing is started any more.
std::vector<std::optional<Assembled>> assemble_all(const std::string& ptxas,
                                                   const Environment& environment,
                                                   std::span<const AssemblyRequest> requests,
                                                   const Arguments& arguments, Patience& patience,
                                                   int& interrupted, std::string& refusal);

// A ptxas by itself, for `architecture` and with further options, as sub-commands ask it.
class Ptxas : public Assembler {
public:
  Ptxas(std::string program, std::string architecture, std::vector<std::string> options = {})
      : program_(std::move(program)), architecture_(std::move(architecture)),
        options_(std::move(options)) {}

  [[nodiscard]] bool takes_register_limits() const override;

  using Assembler::assemble;
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override;

  [[nodiscard]] std::string refusal() const override { return refusal_; }
  [[nodiscard]] int interrupted() const { return interrupted_; }
  void watch(std::function<void(std::size_t ended, std::size_t of)> seen) {
    patience_.watch = std::move(seen);
  }

private:
  std::string program_;
  std::string architecture_;
  std::vector<std::string> options_;
  Patience patience_;
  int interrupted_ = 0;
  std::string refusal_;
};

} // namespace ptxasw::driver
