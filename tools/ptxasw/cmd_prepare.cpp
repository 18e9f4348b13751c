// ptxasw prepare: versions for the kernels of programs as they were built, before they are run.
#include "command_line.hpp"

#include "devices.hpp"
#include "driver/commit.hpp"
#include "driver/environment.hpp"
#include "driver/progress.hpp"
#include "image/mapped_file.hpp"
#include "image/program.hpp"
#include "kept.hpp"
#include "prepare/contracts.hpp"
#include "prepare/worker.hpp"
#include "prepare_table.hpp"
#include "store/store.hpp"
#include "target/numbers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

using image::Bytes;
using image::Reason;
using prepare::Outcome;
using prepare::Turn;

constexpr std::string_view footer = R"(
Finds the fat binaries in programs and in the libraries that they load, and prepares those that have
both machine code for the chip and its PTX: versions of their kernels go into the store
(${XDG_CACHE_HOME:-~/.cache}/ptxasw), from which ptxasw launch takes them. No GPU is needed. Libraries
that a program opens while it runs are named beside it. It fails where an image could not be
prepared, or not be kept; an image that has nothing to gain is no failure.
)";

struct Wishes {
  std::vector<std::string> programs, images;
  std::string chip, format = "text";
  bool no_libraries = false, background = false;
};

struct File {
  std::string path;
  image::MappedFile mapped;
  bool was_named = false;
};

File opened(const std::string& path, bool was_named) {
  auto mapped = image::MappedFile::open(path);
  if (!mapped) throw InputError(path + ": " + std::strerror(errno));
  return {path, std::move(*mapped), was_named};
}

std::vector<File> files_of(const Wishes& wishes) {
  std::vector<File> files;
  std::set<std::string> known;
  const image::LibrarySearch search{
      .library_path = driver::Environment::current().get("LD_LIBRARY_PATH").value_or("")};
  for (const std::string& path : wishes.programs)
    if (known.insert(path).second) files.push_back(opened(path, true));
  if (wishes.no_libraries) return files;
  for (const std::string& path : wishes.programs)
    for (const std::string& library : image::libraries_of(path, search))
      if (known.insert(library).second) files.push_back(opened(library, false));
  return files;
}

// That of this machine, if it has one; else the newest chip for which the named files have machine
// code and PTX; sm_90 where they have none.
std::string usual_chip(const std::vector<File>& files) {
  if (const auto here = chips_here(); !here.empty()) return here.front();
  image::Chip newest{0};
  for (const File& file : files)
    for (const image::Embedded& embedded : image::fat_binaries_in(file.mapped.bytes())) {
      if (!file.was_named) continue;
      const image::Probe probe = image::probe(embedded.image);
      for (const image::Entry& entry : probe.entries)
        if (entry.kind == image::Kind::code && entry.chip.number > newest.number &&
            image::choose(probe, {entry.chip.number}).reason == Reason::none)
          newest = {entry.chip.number};
    }
  return newest.number == 0 ? "sm_90" : image::name_of(newest);
}

void lower_priority() {
  constexpr int of_process = 1, idle_class = 3 << 13; // ioprio_set(2)
  constexpr int lowest = 19;
  const sched_param none{};
  ::setpriority(PRIO_PROCESS, 0, lowest);
  ::sched_setscheduler(0, SCHED_IDLE, &none);
  ::syscall(SYS_ioprio_set, of_process, 0, idle_class);
}

prepare::Place place() {
  const auto environment = driver::Environment::current();
  const auto settings =
      store::settings_from([&](std::string_view name) { return environment.get(name); });
  return {settings.folder, settings.limit};
}

prepare::Conditions conditions_for(const std::string& chip) {
  if (!image::chip_of(chip)) throw UsageError("--chip=" + chip + ": not a chip as sm_90");
  const std::string commit(driver::commit());
  return {.chip = chip,
          .tool = prepare::find_tool(),
          .made_by = fmt::format("{} {}", version(), commit),
          .options = prepare::usual_options()};
}

void must_be_writable(const prepare::Place& where) {
  if (where.folder.empty()) throw std::runtime_error("there is no store: HOME is not set");
  std::error_code failed;
  std::filesystem::create_directories(where.folder, failed);
  if (::access(where.folder.c_str(), W_OK) != 0)
    throw std::runtime_error(where.folder + ": " + std::strerror(errno));
}

// Files that hold nothing but an image, as a launcher hands them over.
int prepare_images(const Wishes& wishes) {
  if (wishes.chip.empty()) throw UsageError("--image needs --chip");
  if (wishes.background) lower_priority();
  const prepare::Conditions conditions = conditions_for(wishes.chip);
  must_be_writable(place());
  std::vector<File> files;
  std::vector<std::size_t> kernels; // by file
  for (const std::string& path : wishes.images) {
    files.push_back(opened(path, true));
    kernels.push_back(prepare::look_at(files.back().mapped.bytes(), conditions).kernels.size());
  }
  driver::Progress progress("preparing");
  const std::size_t all = std::accumulate(kernels.begin(), kernels.end(), std::size_t{0});
  std::size_t done = 0;
  bool good = true;
  for (std::size_t n = 0; n < files.size(); ++n) {
    progress.at(done, all, "kernels");
    const Outcome outcome =
        prepare::prepare_once(files[n].mapped.bytes(), conditions, place(),
                              wishes.background ? Turn::Others::leave : Turn::Others::wait);
    done += kernels[n];
    if (outcome.how == Outcome::How::stopped) return 128 + outcome.signal;
    good = good && outcome.how != Outcome::How::failed && outcome.how != Outcome::How::not_kept;
  }
  return good ? exit_done : exit_failed;
}

class Programs {
public:
  explicit Programs(const Wishes& wishes)
      : wishes_(wishes), files_(files_of(wishes)),
        conditions_(conditions_for(wishes.chip.empty() ? usual_chip(files_) : wishes.chip)),
        place_(place()) {}

  int run() {
    must_be_writable(place_);
    look();
    if (const int signal = prepare_all(); signal != 0) return 128 + signal;
    const Headline headline{.chip = conditions_.chip,
                            .was_chosen = wishes_.chip.empty(),
                            .assembler = conditions_.tool ? conditions_.tool->release : "",
                            .folder = place_.folder};
    if (wishes_.format != "none")
      write_text("-",
                 wishes_.format == "json" ? as_json(headline, rows_) : as_text(headline, rows_));
    return std::ranges::any_of(rows_, &PreparedRow::failed) ? exit_failed : exit_done;
  }

private:
  // By what the images say of themselves.
  void look() {
    for (const File& file : files_) {
      const std::vector<image::Embedded> all = image::fat_binaries_in(file.mapped.bytes());
      const bool is_separate = std::ranges::any_of(all, &image::Embedded::is_relocatable);
      for (const image::Embedded& embedded : all) {
        PreparedRow row{.file = file.path,
                        .offset = embedded.offset,
                        .bytes = embedded.image.size(),
                        .prepared = prepare::look_at(embedded.image, conditions_)};
        if (row.prepared.reason == Reason::built_in) {
          list(row, prepare::contracts_in(embedded.image, conditions_.chip));
          rows_.push_back(std::move(row));
          continue;
        }
        if (embedded.is_relocatable || (is_separate && row.prepared.reason == Reason::no_text))
          say(row, Reason::relocatable);
        if (row.prepared.kernels.empty() && row.prepared.reason == Reason::no_text)
          say(row, Reason::no_kernels);
        row.has_text = row.prepared.reason == Reason::none;
        if (row.has_text) images_.emplace(rows_.size(), embedded.image);
        rows_.push_back(std::move(row));
      }
    }
  }

  static void list(PreparedRow& row, const prepare::Contracts& contracts) {
    for (const auto& [kernel, contract] : contracts)
      row.versions[kernel] = contract::versions_of(contract, numbers::launch::worth_it);
  }

  void say(PreparedRow& row, Reason reason) const {
    row.prepared.reason = reason;
    row.prepared.words = image::words(reason, conditions_.chip);
  }

  // The signal that ended it; else 0.
  int prepare_all() {
    std::size_t kernels = 0;
    for (const auto& [row, image] : images_)
      kernels += rows_[row].prepared.kernels.size();
    driver::Progress progress("preparing kernels");
    std::size_t done = 0;
    for (const auto& [n, image] : images_) {
      PreparedRow& row = rows_[n];
      progress.at(done, kernels, row.file);
      Outcome outcome = prepare::prepare_once(image, conditions_, place_, Turn::Others::wait);
      done += row.prepared.kernels.size();
      if (outcome.how == Outcome::How::stopped) return outcome.signal;
      row.state = state_of(outcome.how);
      row.failed = !row.state.empty() && row.state != "found" && row.state != "prepared";
      if (outcome.how != Outcome::How::failed && outcome.how != Outcome::How::busy)
        row.prepared = std::move(outcome.prepared);
      if (row.prepared.is_replaced())
        list(row, prepare::contracts_of(sass::Cubin(row.prepared.cubin)));
    }
    return 0;
  }

  static std::string state_of(Outcome::How how) {
    switch (how) {
    case Outcome::How::found: return "found";
    case Outcome::How::prepared: return "prepared";
    case Outcome::How::not_kept: return "not kept";
    default: return "failed";
    }
  }

  const Wishes& wishes_;
  std::vector<File> files_;
  prepare::Conditions conditions_;
  prepare::Place place_;
  std::vector<PreparedRow> rows_;
  std::map<std::size_t, Bytes> images_; // by row: to be prepared
};

} // namespace

std::string what_is_kept(const std::string& program) {
  auto mapped = image::MappedFile::open(program);
  if (!mapped) return {};
  std::vector<File> files;
  files.push_back({program, std::move(*mapped), true});
  const std::string chip = usual_chip(files);
  std::size_t versions = 0;
  for (const image::Embedded& embedded : image::fat_binaries_in(files[0].mapped.bytes()))
    if (const auto found = image::find(place().folder, image::key_of(embedded.image, chip)))
      versions += found->versions();
  if (versions == 0)
    return fmt::format("nothing of it is in the store for {}; ptxasw prepare {} needs no GPU", chip,
                       program);
  return fmt::format("{} version{} of this program for {} {} in the store", versions,
                     versions == 1 ? "" : "s", chip, versions == 1 ? "is" : "are");
}

int prepare_programs(Arguments arguments) {
  Wishes wishes;
  Parser app("prepare", "Prepare versions of the kernels of programs, for ptxasw launch");
  app.add("PROGRAM", wishes.programs, "programs and libraries");
  app.add("--chip", wishes.chip,
          "the chip that they will run on, as sm_90 (this machine's; without a GPU, the newest for "
          "which the program has machine code with its PTX)");
  app.add("--no-libraries", wishes.no_libraries, "leave out the libraries that they load");
  app.add("--format", wishes.format, "of the table", {.choices = {"text", "json", "none"}});
  app.add("--image", wishes.images,
          "a file that holds one image as a program hands it to its driver, again and again; then "
          "no table is written");
  app.add("--background", wishes.background,
          "with --image: at the lowest priority, one process at a time, and not what another "
          "process prepares");
  app.footer(std::string(footer));
  return guarded([&] {
    if (const auto code = app.read(std::move(arguments))) return *code;
    if (wishes.programs.empty() == wishes.images.empty())
      throw UsageError("prepare needs programs, or images");
    return wishes.images.empty() ? Programs(wishes).run() : prepare_images(wishes);
  });
}

} // namespace ptxasw::tool
