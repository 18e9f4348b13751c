#include "prepare/worker.hpp"

#include "driver/files.hpp"
#include "image/linked.hpp"
#include "image/seen_sequences.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <sys/wait.h>
#include <unistd.h>

namespace ptxasw::prepare {
namespace {

using image::Prepared;
using image::Reason;
using How = Outcome::How;

constexpr unsigned most_begun = 2;
constexpr int kept_code = 0, not_kept_code = 3, failed_code = 4;

using Seen = std::vector<contract::SeenSequence>;

std::optional<Prepared> usable(const Place& place, const image::ImageKey& key,
                               const Conditions& conditions, const Seen& seen) {
  auto found = image::find(place.folder, key);
  if (!found || found->made_by != conditions.made_by ||
      found->sequences != image::hash_of(seen, found->kernels))
    return std::nullopt;
  const bool is_other_ptxas = conditions.tool && found->assembler != conditions.tool->release;
  if ((is_other_ptxas && (image::hangs_on_ptxas(*found) || !found->linked.empty())) ||
      image::is_to_be_tried_again(*found, std::time(nullptr)))
    return std::nullopt;
  return found;
}

// Signals that a terminal sends to all are the child's to end by; what they did is seen here.
class Quiet {
public:
  Quiet() : interrupt_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { restore(); }
  void restore() const {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
  }

private:
  using Handler = void (*)(int);
  Handler interrupt_, quit_;
};

[[noreturn]] void work(image::Bytes image, Conditions conditions, const Place& place,
                       const image::ImageKey& key, const Seen& seen,
                       const driver::MemoryFile& answer) {
  int code = failed_code;
  try {
    if (!seen.empty()) conditions.options.sequences = contract::encode(seen);
    Prepared prepared = prepare(image, conditions);
    prepared.sequences = image::hash_of(seen, prepared.kernels);
    code = image::keep(place.folder, place.limit, key, prepared) ? kept_code : not_kept_code;
    if (const auto linked = image::unpacked(image); linked && prepared.is_replaced())
      image::keep_size(place.folder, linked->cubin.size());
    if (!driver::write_all(answer.descriptor(), image::serialized(prepared))) code = failed_code;
  } catch (const Interrupted& by) {
    std::signal(by.signal, SIG_DFL);
    ::raise(by.signal);
  } catch (const std::exception&) { // no memory
  }
  ::_exit(code);
}

int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

Outcome outcome_of(int status, const driver::MemoryFile& answer) {
  if (status != -1 && WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const bool stopped = signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
    return {.how = stopped ? How::stopped : How::failed, .prepared = {}, .signal = signal};
  }
  const int code = status == -1 ? failed_code : WEXITSTATUS(status);
  auto prepared = image::parsed(answer.content());
  if (!prepared || code == failed_code) return {.how = How::failed, .prepared = {}};
  return {.how = code == kept_code ? How::prepared : How::not_kept,
          .prepared = std::move(*prepared)};
}

Outcome given_up(const Conditions& conditions, const Place& place, const image::ImageKey& key) {
  Prepared prepared{.reason = Reason::gave_up,
                    .words = image::words(Reason::gave_up, conditions.chip),
                    .chip = conditions.chip,
                    .made_by = conditions.made_by,
                    .when = std::time(nullptr)};
  const bool kept = image::keep(place.folder, place.limit, key, prepared);
  return {.how = kept ? How::prepared : How::not_kept, .prepared = std::move(prepared)};
}

} // namespace

Outcome prepare_once(image::Bytes image, const Conditions& conditions, const Place& place,
                     Turn::Others others) {
  const image::ImageKey key = image::key_of(image, conditions.chip);
  const Seen seen = image::seen_in(place.folder);
  if (auto found = usable(place, key, conditions, seen))
    return {.how = How::found, .prepared = std::move(*found)};
  auto turn = Turn::take(place.folder, key, others);
  if (!turn) return {.how = How::busy, .prepared = {}};
  std::optional<store::Descriptor> alone;
  if (others == Turn::Others::leave) alone = only_one(place.folder);
  if (auto found = usable(place, key, conditions, seen)) { // meanwhile
    turn->done();
    return {.how = How::found, .prepared = std::move(*found)};
  }
  if (turn->begun() >= most_begun) {
    turn->done();
    return given_up(conditions, place, key);
  }
  const auto answer = driver::MemoryFile::create();
  if (!answer) return {.how = How::failed, .prepared = {}};
  turn->begin();
  const Quiet quiet;
  const pid_t child = ::fork();
  if (child == 0) {
    quiet.restore();
    work(image, conditions, place, key, seen, *answer);
  }
  const Outcome outcome = child < 0 ? Outcome{.how = How::failed, .prepared = {}}
                                    : outcome_of(status_of(child), *answer);
  if (outcome.how != How::failed) turn->done();
  return outcome;
}

} // namespace ptxasw::prepare
