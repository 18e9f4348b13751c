// The launches with which two kernels are compared: shapes and arguments.
#pragma once

#include "simt/guess.hpp"
#include "simt/verify.hpp"

namespace ptxasw::simt {

// One of the usual launches, or one that leads somewhere.
struct Case {
  std::uint64_t index = 0;
  const ReachingLaunch* way = nullptr;
};

class Cases {
public:
  // Both must outlive this.
  Cases(const Program& program, const VerifyOptions& options);

  [[nodiscard]] const std::vector<LaunchShape>& shapes() const { return shapes_; }
  // Those in which no two threads do the same work for want of an axis that tells them apart.
  [[nodiscard]] std::vector<LaunchShape> flat_shapes() const;
  // The same case and attempt give the same launch at any time.
  [[nodiscard]] VerifyLaunch make(const Case& which, unsigned attempt) const;
  // Pointers that meet and threads that do the same work twice are our own idea, not the program's.
  [[nodiscard]] bool is_far_fetched(const VerifyLaunch& launch) const;
  // Parameters that are addresses, and numbers among the given arguments, by place.
  [[nodiscard]] std::vector<std::uint64_t> pointers() const;
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& known() const { return known_; }

private:
  [[nodiscard]] LaunchShape flat(LaunchShape shape) const;
  void add_shape(const LaunchShape& shape);
  void find_known();

  const Program& program_;
  const VerifyOptions& options_;
  std::vector<ParameterUse> uses_;
  std::vector<LaunchShape> shapes_;
  std::map<std::uint64_t, std::uint64_t> known_;
};

} // namespace ptxasw::simt
