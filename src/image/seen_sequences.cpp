// A file of JSON, replaced as a whole.
#include "image/seen_sequences.hpp"

#include "store/descriptor.hpp"
#include "store/files.hpp"
#include "words/hash.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::image {
namespace {

constexpr std::size_t largest_file = 1 << 20;

std::string file_in(const std::string& folder) {
  return folder + "/sequences.json";
}

} // namespace

std::vector<contract::SeenSequence> seen_in(const std::string& folder) {
  if (folder.empty()) return {};
  const store::Descriptor file(::open(file_in(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || info.st_uid != ::geteuid()) return {};
  const auto text = store::read_whole(file.get(), largest_file);
  return text ? contract::decode_seen(*text).value_or(std::vector<contract::SeenSequence>())
              : std::vector<contract::SeenSequence>();
}

bool add_seen(const std::string& folder, const std::vector<contract::SeenSequence>& more) {
  if (folder.empty()) return false;
  std::vector<contract::SeenSequence> all = seen_in(folder);
  const std::size_t before = all.size();
  for (const contract::SeenSequence& one : more)
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  if (all.size() == before) return true;
  if (all.size() > most_seen)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most_seen));
  store::make_folders(folder);
  std::string made = file_in(folder) + ".XXXXXX";
  store::Descriptor file(::mkostemp(made.data(), O_CLOEXEC));
  if (!file) return false;
  const bool written = store::write_whole(file.get(), contract::encode(all));
  if (written && ::rename(made.c_str(), file_in(folder).c_str()) == 0) return true;
  ::unlink(made.c_str());
  return false;
}

std::uint64_t hash_of(const std::vector<contract::SeenSequence>& seen,
                      const std::vector<PreparedKernel>& kernels) {
  std::vector<contract::SeenSequence> some;
  std::ranges::copy_if(seen, std::back_inserter(some), [&](const contract::SeenSequence& one) {
    return std::ranges::all_of(one.kernels, [&](const std::string& name) {
      return std::ranges::find(kernels, name, &PreparedKernel::name) != kernels.end();
    });
  });
  return some.empty() ? 0 : words::hash(contract::encode(some));
}

} // namespace ptxasw::image
