// What a profile says of a kernel that is to be compiled.
#pragma once

#include "profile/profile.hpp"

#include <string>
#include <vector>

namespace ptxasw::profile {

enum class Known : std::uint8_t {
  nothing,      // it was launched, without versions or under another text; or the file is not known
  times,        // of versions
  never_gained, // of versions, none of which was faster than the kernel itself
  never_launched, // others of its file were
};

struct Asked {
  std::string name;
  std::uint64_t text = 0; // hash_of_text
};

struct Answer {
  Known known = Known::nothing;
  const Kernel* kernel = nullptr; // of `times` and `never_gained`
};

// Answers about the kernels of one file. The profile must outlive it.
class Lookup {
public:
  Lookup() = default; // of no profile: nothing is known
  Lookup(const Profile& profile, const std::vector<Asked>& kernels);

  // By the place among the kernels that were asked about.
  [[nodiscard]] Answer answer(std::size_t n) const {
    return n < answers_.size() ? answers_[n] : Answer{};
  }
  // Kernels that the profile knows under another text, by name.
  [[nodiscard]] const std::vector<std::string>& other_texts() const { return other_texts_; }
  // All that decisions can hang on, as text; empty where nothing is known.
  [[nodiscard]] const std::string& relevant() const { return relevant_; }

private:
  std::vector<Answer> answers_;
  std::vector<std::string> other_texts_;
  std::string relevant_;
};

} // namespace ptxasw::profile
