// The call of ptxas that made a cubin, made again.
#pragma once

#include "driver/ptxas.hpp"
#include "image/reason.hpp"
#include "sass/cubin.hpp"

#include <tl/expected.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::prepare {

// The ptxas that is here.
struct Tool {
  std::string program;
  std::string release; // "13.0.88"
};
// Nothing: there is none, or it does not say what it is. As find_ptxas finds it.
[[nodiscard]] std::optional<Tool> find_tool();

// "13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88"; empty: it is none.
[[nodiscard]] std::string release_in(std::string_view text);

// The options of the note but for the chip and what only prints, if the note is of ptxas for this
// chip ("sm_90") and all of them are of the kind that can be repeated; else why not.
[[nodiscard]] tl::expected<std::vector<std::string>, image::Reason>
repeated_options(const sass::ToolNote& note, std::string_view chip);

// That call, with other texts; keeps the cubin of the last text that is to be kept.
class Repeated : public driver::Ptxas {
public:
  using driver::Ptxas::assemble;
  Repeated(const Tool& tool, const std::string& chip, std::vector<std::string> options)
      : driver::Ptxas(tool.program, chip, std::move(options)) {}
  std::optional<Assembled> keep(const std::string& text) override;
  [[nodiscard]] const std::string& kept() const { return kept_; }
  // The signal that we were sent meanwhile.
  [[nodiscard]] virtual int stopped_by() const { return interrupted(); }

private:
  std::string kept_;
};

// As a driver's linker does with one text: each cubin is compiled for linking, and linked.
class RepeatedAndLinked : public Repeated {
public:
  using Repeated::assemble;
  RepeatedAndLinked(const Tool& tool, std::string nvlink, const std::string& chip,
                    std::vector<std::string> options);
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override;
  [[nodiscard]] int stopped_by() const override;

private:
  std::string nvlink_, chip_;
  int linker_stopped_by_ = 0;
};

} // namespace ptxasw::prepare
