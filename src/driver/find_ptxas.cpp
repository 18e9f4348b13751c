// The places where ptxas may be, in order, and how a program that is us is told.
#include "driver/find_ptxas.hpp"

#include "driver/files.hpp"
#include "words/words.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace ptxasw::driver {
namespace {

std::vector<std::string> in_path(const std::string& name, const Environment& environment) {
  std::vector<std::string> found;
  const std::string path = environment.get("PATH").value_or("");
  for (const std::string_view folder : words::split(path, ':'))
    found.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, name));
  return found;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string mark(const FileId& id) {
  return fmt::format("{}:{}", id.device, id.inode);
}

} // namespace

std::string find_in_path(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos) return is_executable_file(name) ? name : "";
  const auto places = in_path(name, environment);
  const auto found = std::ranges::find_if(places, is_executable_file);
  return found == places.end() ? "" : *found;
}

std::vector<std::string> ptxas_candidates(const Search& search, const Environment& environment) {
  std::vector<std::string> places;
  const auto add = [&](const std::optional<std::string>& folder, const std::string& rest) {
    if (folder) places.push_back(*folder + rest);
  };
  const auto add_path = [&](const std::string& name) {
    const auto found = in_path(name, environment);
    places.insert(places.end(), found.begin(), found.end());
  };
  add(environment.get("PTXASW_PTXAS"), "");
  if (search.named.find('/') != std::string::npos)
    places.push_back(search.named);
  else if (!search.named.empty())
    add_path(search.named);
  if (!search.self.empty()) {
    add(folder_of(search.self), "/ptxas.real");
    add(folder_of(search.self), "/ptxas");
  }
  add(environment.get("_HERE_"), "/ptxas");
  add(environment.get("TOP"), "/bin/ptxas");
  add_path("ptxas");
  add(environment.get("CUDA_HOME"), "/bin/ptxas");
  add(environment.get("CUDA_PATH"), "/bin/ptxas");
  places.insert(places.end(),
                {"/usr/local/cuda/bin/ptxas", "/opt/cuda/bin/ptxas", "/usr/lib/cuda/bin/ptxas",
                 "/usr/lib/nvidia-cuda-toolkit/bin/ptxas"});
  return places;
}

tl::expected<std::string, std::string> find_ptxas(const Search& search, Environment& environment) {
  // Who names a ptxas wants no other.
  if (const auto named = environment.get("PTXASW_PTXAS").value_or("");
      !named.empty() && !is_executable_file(named))
    return tl::unexpected(fmt::format(
        "PTXASW_PTXAS is '{}', which is no program that can be run; name the real ptxas with its "
        "whole path, or unset the variable",
        named));
  const std::string tried = environment.get(tried_variable).value_or("");
  const std::vector<std::string_view> marks = words::split(tried, ',');
  const auto self = file_id(search.self);
  for (const std::string& path : ptxas_candidates(search, environment)) {
    const auto id = file_id(path);
    if (!id || id == self || !is_executable_file(path)) continue;
    if (std::ranges::find(marks, mark(*id)) != marks.end()) continue;
    environment.set(tried_variable, tried.empty() ? mark(*id) : tried + "," + mark(*id));
    return path;
  }
  return tl::unexpected<std::string>(
      "no ptxas found beside this one, in nvcc's toolkit, in PATH or in /usr/local/cuda; "
      "set PTXASW_PTXAS to the file");
}

} // namespace ptxasw::driver
