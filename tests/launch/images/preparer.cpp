// Stands for `ptxasw prepare --background` in tests: each image has the same cubin made of it, that
// of images_program.cpp. PREPARER says what goes wrong.
#include "fat.hpp"
#include "image/prepared.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <sys/resource.h>
#include <thread>

using namespace ptxasw;

int main(int count, char** words) {
  const char* const variable = std::getenv("PREPARER");
  const std::string_view how = variable == nullptr ? "" : variable;
  if (how == "sleeps") std::this_thread::sleep_for(std::chrono::seconds(20));
  if (how == "is-full") { // files may have this many bytes: in the middle of an entry
    const rlimit most{200, 200};
    ::setrlimit(RLIMIT_FSIZE, &most);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  for (int n = 1; n < count; ++n) {
    const std::string_view word = words[n];
    if (!word.starts_with("--image=")) continue;
    std::ifstream file(std::string(word.substr(8)), std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    const image::ImageKey key = image::key_of(std::as_bytes(std::span(image)), "sm_90");
    if (how == "dies") std::raise(SIGKILL);
    image::Prepared prepared{
        .reason = image::Reason::none,
        .words = "",
        .cubin = launch::test::machine_code("prepared"),
        .kernels = {{.name = "k", .versions = 1, .is_alone = how != "needs-variables"}},
        .chip = "sm_90"};
    if (how == "finds-nothing") {
      prepared.reason = image::Reason::no_versions;
      prepared.cubin.clear();
      prepared.kernels[0].versions = 0;
    }
    image::keep(
        image::images_folder([](const char* name) -> const char* { return std::getenv(name); }),
        1 << 30, key, prepared);
  }
}
