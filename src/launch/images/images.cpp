// Looks images up, and keeps account of what was loaded.
#include "launch/images/images.hpp"

#include "image/compiled.hpp"
#include "image/linked.hpp"
#include "image/seen_sequences.hpp"
#include "launch/driver/compiled_text.hpp"
#include "launch/log.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <link.h>
#include <span>

namespace ptxasw::launch {
namespace {

using image::Form;
using image::Reason;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The loaded file in which an address lies, or "memory".
std::string file_of(const void* address) {
  struct Search {
    std::uintptr_t at;
    std::string file = "memory";
  } search{.at = reinterpret_cast<std::uintptr_t>(address)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* with) {
        auto& wanted = *static_cast<Search*>(with);
        for (std::size_t n = 0; n < info->dlpi_phnum; ++n) {
          const ElfW(Phdr)& part = info->dlpi_phdr[n];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || wanted.at < begin || wanted.at - begin >= part.p_memsz)
            continue;
          wanted.file = *info->dlpi_name == '\0' ? "the program" : info->dlpi_name;
          return 1;
        }
        return 0;
      },
      &search);
  return search.file;
}

ImageRow row_of(Reason reason, const std::string& chip) {
  return {.from = "",
          .code = std::string(code(reason)),
          .words = words(reason, chip),
          .has_text = false};
}

ImageRow row_of(const image::Prepared& prepared) {
  ImageRow row = row_of(prepared.reason, prepared.chip);
  row.has_text = true;
  row.kernels = prepared.kernels.size();
  row.versions = prepared.versions();
  row.is_read = !prepared.kernels.empty();
  if (prepared.is_replaced()) {
    row.code = "replaced";
    for (const image::PreparedKernel& kernel : prepared.kernels)
      if (kernel.reason != Reason::none && kernel.reason != Reason::no_versions)
        row.words += (row.words.empty() ? "" : "; ") + kernel.name + ": " +
                     (kernel.words.empty() ? words(kernel.reason, prepared.chip) : kernel.words);
  } else if (!prepared.words.empty()) {
    row.words = prepared.words;
  }
  return row;
}

} // namespace

bool may_be_added(std::string_view name) {
  return name.find("__ptxasw_") != std::string_view::npos;
}

bool Replacement::hides(std::string_view name) const {
  return may_be_added(name) && !std::ranges::binary_search(own, name, std::less<>());
}

Images::Images(bool reports)
    : reports_(reports), folder_(image::images_folder(
                             [](const char* name) -> const char* { return std::getenv(name); })),
      seen_(image::seen_in(folder_)), preparer_(folder_.empty() ? "" : variable("PTXASW_PROGRAM"),
                                                folder_, [this](std::vector<Preparer::Come> all) {
                                                  for (Preparer::Come& one : all)
                                                    late_.take(one.key, std::move(one.prepared));
                                                }) {}

Images::Load Images::look_at(const void* image, Owner owner, bool as_usual) {
  const Form form = image::form_of(image);
  const std::string from = reports_ ? file_of(image) : "";
  if (form == Form::unknown) return pass_over(form, from, owner);
  const auto measured = image::measured(image);
  if (form == Form::cubin)
    return measured ? look_at_cubin(*measured, from, owner) : pass_over(form, from, owner);
  if (!measured) return pass_over(Form::unknown, from, owner);
  return form == Form::text ? look_at_text(*measured, from, owner, as_usual)
                            : look_at_whole(*measured, from, owner, as_usual);
}

Images::Load Images::look_at(image::Bytes bytes, const char* path, Owner owner, bool as_usual) {
  constexpr std::size_t header = 64; // as long as any
  if (bytes.size() < header) return pass_over(Form::unknown, path, owner);
  const Form form = image::form_of(bytes.data());
  if (form == Form::text)
    return look_at_text(bytes.first(static_cast<std::size_t>(
                            std::ranges::find(bytes, std::byte{0}) - bytes.begin())),
                        path, owner, as_usual);
  if (form == Form::cubin) return look_at_cubin(bytes, path, owner);
  if (form != Form::fat_binary) return pass_over(form, path, owner);
  const auto measured = image::measured(bytes.data());
  if (!measured || measured->size() > bytes.size()) return pass_over(Form::unknown, path, owner);
  return look_at_whole(*measured, path, owner, as_usual);
}

// By its first bytes alone. The chip is for what would help.
Images::Load Images::pass_over(Form form, const std::string& from, Owner owner) {
  if (!reports_) return {};
  if (form != Form::cubin) return leave(Reason::unknown_form, from, "", false);
  const std::string chip = chip_of(owner);
  return leave(Reason::cubin_alone, from, chip.empty() ? "sm_90" : chip, false);
}

Images::Load Images::leave(Reason reason, const std::string& from, const std::string& chip,
                           bool has_text) {
  ImageRow row = row_of(reason, chip);
  row.from = from;
  row.has_text = has_text;
  return note(std::move(row));
}

Images::Load Images::of_unknown_devices(const std::string& from) {
  return note(
      {.from = from, .code = "devices", .words = "the devices are not known, or of several kinds"});
}

Images::Load Images::look_at_whole(image::Bytes image, const std::string& from, Owner owner,
                                   bool as_usual) {
  const std::string chip = chip_of(owner);
  if (chip.empty()) return of_unknown_devices(from);
  image::Choice choice = choose(image::probe(image), *image::chip_of(chip));
  if (choice.reason == Reason::none && !choice.code && !as_usual)
    choice.reason = Reason::jit_options;
  if (choice.reason == Reason::none && image.size() > store::largest_entry)
    choice.reason = Reason::too_large;
  if (choice.reason != Reason::none)
    return leave(choice.reason, from, chip, choice.text.has_value());
  return look_up(image, from, chip);
}

Images::Load Images::look_at_text(image::Bytes text, const std::string& from, Owner owner,
                                  bool as_usual) {
  const std::string chip = chip_of(owner);
  if (chip.empty()) return of_unknown_devices(from);
  if (!as_usual) return leave(Reason::jit_options, from, chip, true);
  if (text.size() > store::largest_entry) return leave(Reason::too_large, from, chip, true);
  return look_up(text, from, chip);
}

// Linked by this program, or perhaps by one before, which kept the cubin: as caches of kernels do.
Images::Load Images::look_at_cubin(image::Bytes cubin, const std::string& from, Owner owner) {
  const auto made = links_.find(cubin);
  if (!made && !image::has_size(folder_, cubin.size())) return pass_over(Form::cubin, from, owner);
  const std::string chip = chip_of(owner);
  if (chip.empty()) return of_unknown_devices(from);
  if (!made) {
    if (known(image::key_of(cubin, chip)).row.code.empty())
      return pass_over(Form::cubin, from, owner);
    return look_up(cubin, from, chip, Preparing::has_no_text);
  }
  if (made->reason != Reason::none)
    return leave(made->reason, from, chip, made->reason != Reason::linked_inputs);
  if (made->target != 0 && image::chip_of(chip) != image::Chip{made->target})
    return leave(Reason::jit_options, from, chip, true);
  Load load = look_up(std::as_bytes(std::span(*made->image)), from, chip);
  load.linked = made->image;
  return load;
}

Images::Load Images::look_up(image::Bytes image, const std::string& from, const std::string& chip,
                             Preparing preparing) {
  const image::ImageKey key = image::key_of(image, chip);
  Known found = known(key);
  found.row.from = from;
  const bool is_awaited = preparer_.is_possible() && preparing == Preparing::is_possible;
  const auto when = found.row.code.empty() || found.is_old
                        ? Preparer::When::now
                        : Preparer::When::once_sequences_are_seen;
  bool is_handed_over =
      is_awaited && (when == Preparer::When::now || preparer_.looks_for_sequences());
  if (is_handed_over) {
    const std::lock_guard lock(mutex_);
    is_handed_over = prepared_.insert(key).second;
  }
  if (found.row.code.empty()) {
    found.row.has_text = true;
    found.row.code = preparer_.is_possible() ? "preparing" : "not-prepared";
    found.row.words = preparer_.is_possible()
                          ? "being prepared: used from the program's next wait for the device on"
                          : "not prepared (run the program under ptxasw launch)";
  }
  Load load = note(std::move(found.row));
  load.is_to_be_compared = found.by != nullptr && !found.agrees;
  load.by = std::move(found.by);
  if (is_handed_over) load.preparing = when;
  load.is_awaited = is_awaited;
  load.edition = found.edition;
  load.chip = chip;
  load.key = key;
  load.bytes = image;
  return load;
}

// The store is asked once for each image that it has.
Images::Known Images::known(const image::ImageKey& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  auto prepared = ahead_.find(key);
  if (!prepared) return {};
  Known made{.by = nullptr,
             .row = row_of(*prepared),
             .is_old = is_to_be_tried_again(*prepared, std::time(nullptr)) ||
                       prepared->sequences != image::hash_of(seen_, prepared->kernels),
             .edition = prepared->edition()};
  if (!prepared->linked.empty()) {
    const auto agrees = image::find_agreement(folder_, key, prepared->linked, name_of_driver());
    made.linked = prepared->linked;
    made.agrees = agrees.value_or(false);
    if (agrees && !*agrees) {
      made.row.code = code(Reason::other_compiler);
      made.row.words = words(Reason::other_compiler, prepared->chip);
      made.row.versions = 0;
      made.is_old = image::is_a_day_old(*prepared, std::time(nullptr));
      prepared->reason = Reason::other_compiler;
    }
  }
  if (prepared->is_replaced()) {
    auto by = std::make_shared<Replacement>();
    for (const image::PreparedKernel& kernel : prepared->kernels)
      by->own.push_back(kernel.name);
    std::ranges::sort(by->own);
    by->added = prepared->versions();
    by->cubin = std::move(prepared->cubin);
    made.by = std::move(by);
  }
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(key, std::move(made)).first->second;
}

Images::Load Images::note(ImageRow row) {
  Load load;
  if (!reports_) return load;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = row_of_.try_emplace({row.from, row.code + row.words}, rows_.size());
  load.row = found->second;
  if (is_new) {
    rows_.push_back(std::move(row));
  } else {
    ++rows_[load.row].count;
    rows_[load.row].kernels += row.kernels;
    rows_[load.row].versions += row.versions;
  }
  return load;
}

void Images::loaded(const Load& load, void* handle, Owner owner) {
  take(handle); // of one that is gone
  if (load.by != nullptr) add(handle, load.by, owner);
  const LateVersions::Awaited awaited{load.key, load.edition, load.row};
  if (load.is_awaited && owner == Owner::module)
    late_.await(static_cast<CUmodule>(handle), awaited);
  else if (load.is_awaited)
    late_.await(static_cast<CUlibrary>(handle), awaited);
  if (load.preparing) preparer_.add(load.chip, load.bytes, awaited, *load.preparing);
}

void Images::refused(const Load& load, CUresult why) {
  log("the driver does not take what was prepared of an image (%d): it gets the program's own",
      static_cast<int>(why));
  withdraw(load, "refused", "the driver did not take what was prepared: it has the program's own");
}

void Images::compared(Load& load, std::string_view cubin) {
  load.is_to_be_compared = false;
  const std::string made = image::fingerprint(cubin);
  std::string expected;
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[load.key];
    expected = known.linked;
    known.agrees = !made.empty() && made == expected;
  }
  if (const std::string driver = name_of_driver(); !made.empty() && !driver.empty())
    image::keep_agreement(folder_, load.key, expected, driver, made == expected);
  if (!made.empty() && made == expected) return;
  load.by = nullptr;
  if (made.empty())
    withdraw(load, "not-compared", "the driver's linker does not say what the driver makes of it");
  else
    withdraw(load, code(Reason::other_compiler), words(Reason::other_compiler, load.chip));
}

// Of an image that is the program's own from now on.
void Images::withdraw(const Load& load, std::string_view code, std::string_view words) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[load.key];
  known.by = nullptr;
  known.row.code = code;
  known.row.words = words;
  known.row.versions = 0;
  if (!reports_) return;
  ImageRow& row = rows_.at(load.row);
  row.code = known.row.code;
  row.words = known.row.words;
  row.versions = 0;
}

std::shared_ptr<const Replacement> Images::of(void* handle) const {
  if (!has_any()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.by;
}

std::vector<CUlibrary> Images::libraries() const {
  std::vector<CUlibrary> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, known] : handles_)
    if (known.owner == Owner::library) all.push_back(static_cast<CUlibrary>(handle));
  return all;
}

void Images::add(void* handle, std::shared_ptr<const Replacement> by, Owner owner) {
  const std::lock_guard lock(mutex_);
  handles_[handle] = {std::move(by), owner};
  has_any_.store(true, std::memory_order_release);
}

std::shared_ptr<const Replacement> Images::take(void* handle) {
  late_.forget(handle);
  if (!has_any()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return nullptr;
  auto kept = std::move(found->second.by);
  handles_.erase(found);
  return kept;
}

std::vector<ImageRow> Images::finish() {
  preparer_.finish();
  ahead_.keep();
  const std::lock_guard lock(mutex_);
  std::vector<ImageRow> rows = rows_;
  std::map<std::size_t, unsigned> late;
  for (const std::size_t row : late_.rows())
    ++late[row];
  for (const auto& [row, images] : late)
    if (row < rows.size())
      rows[row].words += "; versions of " + std::to_string(images) + " came in this run";
  return rows;
}

// "sm_90"; empty: not known, or not the same for all that the image is loaded for.
std::string Images::chip_of(Owner owner) const {
  const Driver& d = driver();
  int count = 0;
  if (!d.device_get_count || !d.device_get || !d.device_get_attribute ||
      d.device_get_count(&count) != CUDA_SUCCESS)
    return {};
  const auto chip_at = [&](CUdevice device) {
    int major = 0, minor = 0;
    if (d.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
            CUDA_SUCCESS ||
        d.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
            CUDA_SUCCESS)
      return std::string();
    return "sm_" + std::to_string(major) + std::to_string(minor);
  };
  CUdevice device = 0;
  if (owner == Owner::module)
    return d.ctx_get_device && d.ctx_get_device(&device) == CUDA_SUCCESS ? chip_at(device) : "";
  std::string chip;
  for (int number = 0; number < count; ++number) {
    if (d.device_get(&device, number) != CUDA_SUCCESS) return {};
    const std::string its = chip_at(device);
    if (number != 0 && its != chip) return {};
    chip = its;
  }
  return chip;
}

} // namespace ptxasw::launch
