// What it takes to see that an image of a program or a library cannot gain: the headers of its fat
// binaries are read, and nothing else.
//
//   probe FILE...   of each file: its fat binaries, and the time for one in microseconds: where no
//                   page of the file is in memory, where the kernel has it but the process does
//                   not, and again
#include "image/headers.hpp"
#include "image/mapped_file.hpp"
#include "image/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace ptxasw::image;

double microseconds(const std::byte* image, Reason& reason) {
  const auto begin = std::chrono::steady_clock::now();
  const auto bytes = measured(image);
  reason = bytes ? choose(probe(*bytes), {90}).reason : Reason::unknown_form;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

struct Image {
  std::size_t offset, size, entries;
};

std::vector<Image> images_in(const std::string& path) {
  std::vector<Image> all;
  const auto file = MappedFile::open(path);
  if (!file) return all;
  for (const Embedded& embedded : fat_binaries_in(file->bytes()))
    all.push_back({embedded.offset, embedded.image.size(), probe(embedded.image).entries.size()});
  return all;
}

void forget(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

struct Times {
  double sum = 0, slowest = 0;
  void add(double each) {
    sum += each;
    slowest = std::max(slowest, each);
  }
};

void measure(const std::string& path) {
  const std::vector<Image> images = images_in(path);
  Times disk, kernel, again;
  std::size_t without = 0, largest = 0, entries = 0;
  for (const Image& image : images) {
    Reason reason{};
    forget(path);
    for (Times* each : {&disk, &kernel}) {
      const auto file = MappedFile::open(path);
      if (!file) return;
      each->add(microseconds(file->bytes().data() + image.offset, reason));
      again.add(microseconds(file->bytes().data() + image.offset, reason));
    }
    without += reason == Reason::none ? 0 : 1;
    largest = std::max(largest, image.size);
    entries = std::max(entries, image.entries);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(images.size(), 1));
  std::printf("%s: %zu fat binaries, the largest of %.1f MB, at most %zu entries; %zu without PTX "
              "for sm_90\n  mean and slowest: from the disk %.1f and %.1f us, from the kernel's "
              "memory %.1f and %.1f us, again %.2f and %.2f us\n",
              path.c_str(), images.size(), static_cast<double>(largest) / 1e6, entries, without,
              disk.sum / count, disk.slowest, kernel.sum / count, kernel.slowest,
              again.sum / count / 2, again.slowest);
}

} // namespace

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n)
    measure(argv[n]);
}
