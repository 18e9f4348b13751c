// The program as it is, in the place of ptxas only, of whose allocations one can be made to go
// wrong, counted from the start of the optimizer on:
//
//   FAULT=KIND@N     crash, abort, overflow, hang, throw or allocate at the n-th allocation
//   FAULT_MARKS=FILE how many there had been at each question to ptxas, and whether the fault came
//   FAULT_SECONDS=S  the deadline of the optimizer
//
// All phases allocate: reading, emulating, planning, trials, pinning, judging, writing, the report
// and the log. None of this is in the program that users have.
#include "driver/drop_in.hpp"
#include "ptxasw/ptxasw.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace ptxasw;

struct Faults {
  bool counts = false;
  unsigned long seen = 0, at = 0; // allocations; 0: no fault
  char kind = 0;                  // its first letter
};
Faults faults; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Written with what needs no memory.
void mark(const char* what) {
  const char* path = std::getenv("FAULT_MARKS");
  if (path == nullptr) return;
  std::array<char, 80> line{};
  const int size = std::snprintf(line.data(), line.size(), "%lu %s\n", faults.seen, what);
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0 || ::write(file, line.data(), static_cast<std::size_t>(size)) != size) std::abort();
  ::close(file);
}

int overflow(const volatile int* above) {
  volatile int here = *above;
  return here == 1 ? 0 : overflow(&here) + here;
}

void misbehave() {
  mark("fault");
  const int bottom = 0;
  switch (faults.kind) {
  case 'c': std::raise(SIGSEGV); break;
  case 'a':
    for (std::vector<std::unique_ptr<char[]>> all;;)
      all.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{1} << 26));
  case 'b': std::abort();
  case 'h':
    for (volatile int spin = 1; spin != 0;)
      spin = 1;
    break;
  case 'o': std::exit(overflow(&bottom));
  default: throw std::runtime_error("as asked");
  }
}

// Says where in the count each question comes.
class Marked : public Assembler {
public:
  explicit Marked(Assembler& behind) : behind_(behind) {}
  using Assembler::assemble;

  [[nodiscard]] bool takes_register_limits() const override {
    return behind_.takes_register_limits();
  }
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override {
    using enum AssemblyRequest::Purpose;
    for (const AssemblyRequest& request : requests)
      mark(request.purpose == original ? "original"
           : request.purpose == trial  ? "trial"
                                       : "rewritten");
    return behind_.assemble(requests);
  }
  std::optional<Assembled> keep(const std::string& text) override {
    mark("keep");
    return behind_.keep(text);
  }
  [[nodiscard]] std::string refusal() const override { return behind_.refusal(); }

private:
  Assembler& behind_;
};

Optimized watched(const std::string& text, const std::string& file, const Options& options,
                  Assembler* assembler) {
  faults.counts = true;
  mark("begin");
  Marked marked(*assembler);
  Optimized result = optimize(text, file, options, &marked);
  mark("end");
  return result;
}

} // namespace

void* operator new(std::size_t size) {
  if (faults.counts && ++faults.seen == faults.at) misbehave();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  if (const char* fault = std::getenv("FAULT")) {
    const std::string kind_and_place = fault;
    faults.kind = kind_and_place.starts_with("abort") ? 'b' : kind_and_place.front();
    faults.at = std::stoul(kind_and_place.substr(kind_and_place.find('@') + 1));
  }
  const char* seconds = std::getenv("FAULT_SECONDS");
  const auto environment = driver::Environment::current();
  const std::vector<std::string> words(argv, argv + argc);
  const driver::Invocation call = driver::read_invocation(words, {}, environment);
  const int code =
      driver::drop_in(call,
                      {"0.0", watched, std::chrono::seconds(seconds ? std::stoi(seconds) : 60),
                       std::size_t{1} << 30},
                      environment);
  faults.counts = false;
  mark("exit");
  return code;
}
