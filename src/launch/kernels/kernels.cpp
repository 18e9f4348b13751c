// Handles, names, contracts and entries, as the driver gives them.
#include "launch/kernels/kernels.hpp"

#include "launch/driver/device_memory.hpp"
#include "launch/driver/in_context.hpp"
#include "launch/kernels/passing.hpp"
#include "launch/kernels/shapes.hpp"
#include "launch/log.hpp"
#include "words/hash.hpp"

#include <algorithm>
#include <chrono>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_kernels = 1 << 16;
constexpr std::size_t most_remembered = 1 << 12;

} // namespace

// Reads device memory on a stream of its own, which waits for no other: one for all that is read.
class DeviceReader {
public:
  DeviceReader() = default;
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;
  ~DeviceReader() {
    if (stream_ != nullptr) driver().stream_destroy(stream_);
  }
  bool read(CUdeviceptr from, std::string& bytes) {
    const Driver& d = driver();
    if (!d.stream_create || !d.copy_to_host || !d.stream_synchronize || !d.stream_destroy ||
        (stream_ == nullptr && d.stream_create(&stream_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS))
      return false;
    const bool done = d.copy_to_host(bytes.data(), from, bytes.size(), stream_) == CUDA_SUCCESS;
    return d.stream_synchronize(stream_) == CUDA_SUCCESS && done;
  }

private:
  CUstream stream_ = nullptr;
};

namespace {

Entry entry_of(CUfunction function) {
  Entry entry{.function = function};
  const Driver& d = driver();
  if (function == nullptr || d.func_get_attribute == nullptr) return {};
  const auto ask = [&] {
    return d.func_get_attribute(&entry.most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                function) == CUDA_SUCCESS;
  };
  // A lazy driver says nothing of one that it has not loaded.
  if (!ask() && (d.func_load == nullptr || d.func_load(function) != CUDA_SUCCESS || !ask()))
    return {};
  d.func_get_attribute(&entry.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  return entry;
}

void find_device(Kernel& kernel) {
  const Driver& d = driver();
  CUdevice device = 0;
  if (!d.ctx_get_device || !d.device_get_attribute || !d.device_get_name) return;
  if (d.ctx_get_device(&device) != CUDA_SUCCESS) return;
  int processors = 0, threads = 0;
  d.device_get_attribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  d.device_get_attribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
  kernel.processors = processors;
  kernel.threads_at_a_time = static_cast<double>(processors) * threads;
  kernel.chip = name_of(device);
  int major = 0, minor = 0;
  d.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  d.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  kernel.is_measured = major == 9 && minor == 0;
  kernel.architecture = "sm_" + std::to_string(10 * major + minor);
}

// Empty, or why nothing is known about the launches of this kernel.
std::string read_contract(Kernel& kernel, DeviceReader& reader, Ahead* ahead) {
  const Driver& d = driver();
  CUdeviceptr at = 0;
  std::size_t size = 0;
  if (d.module_get_global(&at, &size, kernel.versions, contract::symbol_of(kernel.name).c_str()) !=
      CUDA_SUCCESS)
    return "its module has no launch contract for it";
  if (size > contract::most_bytes) return "its launch contract is too large";
  std::string bytes(size, '\0');
  if (!reader.read(at, bytes)) return "its launch contract cannot be read";
  auto contract = ahead == nullptr ? contract::decode(bytes) : ahead->decode(bytes);
  if (!contract || contract->kernel != kernel.name) {
    std::string why =
        "its launch contract is " + (contract ? "another kernel's" : contract.error());
    log("%s: %s", kernel.name.c_str(), why.c_str());
    return why;
  }
  kernel.contract = std::move(*contract);
  return {};
}

// Empty, or why it is not known which kernel of which module the handle is.
std::string name_kernel(Kernel& kernel, CUfunction handle) {
  const Driver& d = driver();
  if (!d.func_get_name || !d.func_get_module || !d.module_get_global || !d.module_get_function)
    return "this driver cannot name it";
  kernel.function = handle;
  const char* name = nullptr;
  if (d.func_get_name(&name, handle) != CUDA_SUCCESS) {
    if (!d.kernel_get_function ||
        d.kernel_get_function(&kernel.function, reinterpret_cast<CUkernel>(handle)) !=
            CUDA_SUCCESS ||
        d.func_get_name(&name, kernel.function) != CUDA_SUCCESS)
      return "its name is not known";
  }
  kernel.name = name;
  if (d.func_get_module(&kernel.module, kernel.function) != CUDA_SUCCESS)
    return "its module is not known";
  return {};
}

// Of a kernel whose contract is known. Empty, or why there are none.
std::string find_versions(Kernel& kernel) {
  const Driver& d = driver();
  for (const contract::Variant& variant : kernel.contract.variants) {
    CUfunction function = kernel.function;
    if (!kernel.entries.empty() &&
        d.module_get_function(&function, kernel.versions, variant.entry.c_str()) != CUDA_SUCCESS)
      function = nullptr;
    kernel.entries.push_back(entry_of(function));
  }
  if (kernel.entries[0].function == nullptr) return "the driver does not describe it";
  find_device(kernel);
  kernel.has_contract = true;
  log("%s: %zu versions%s", kernel.name.c_str(), kernel.entries.size(),
      kernel.is_measured ? ""
                         : "; nothing was measured on such a chip, so that what is worth it is "
                           "judged as on an H200");
  return {};
}

// Where the variables lie that the entry reads. False: they are not there.
bool find_variables(const Kernel& kernel, const contract::Steps& steps) {
  std::vector<contract::TouchedRange>& found = kernel.variables.emplace_back();
  for (const contract::Variable& variable : steps.variables) {
    CUdeviceptr at = 0;
    std::size_t size = 0;
    if (driver().module_get_global(&at, &size, kernel.module, variable.name.c_str()) !=
            CUDA_SUCCESS ||
        size < variable.bytes)
      return false;
    found.push_back({at, at + variable.bytes, false});
  }
  return true;
}

// Null: the module does not have it.
CUfunction load(CUmodule module, const std::string& entry) {
  const Driver& d = driver();
  CUfunction function = nullptr;
  if (d.module_get_function(&function, module, entry.c_str()) != CUDA_SUCCESS) return nullptr;
  if (function != nullptr && d.func_load != nullptr) d.func_load(function);
  return function;
}

// It is launched several times over, by one entry.
bool has_passes(const Kernel& kernel) {
  return !kernel.contract.steps.empty() || !kernel.contract.sequences.empty();
}

} // namespace

void load_steps(const Kernel& kernel) {
  for (const contract::Steps& steps : kernel.contract.steps) {
    CUfunction function = load(kernel.versions, steps.entry);
    if (!find_variables(kernel, steps)) function = nullptr;
    kernel.steps.push_back(entry_of(function));
  }
  for (const contract::Sequence& sequence : kernel.contract.sequences)
    kernel.sequences.push_back(entry_of(load(kernel.versions, sequence.entry)));
  kernel.are_steps_ready.store(true, std::memory_order_release);
}

namespace {

// What this thread remembers; gone with the thread. Its variables cost nothing to reach: a
// preloaded library has room for them from the start, and they need no code to be made.
constexpr std::size_t slots = 32;
enum class Memory : std::uint8_t { none, made, gone };
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<Kernels::Remembered, slots>
    remembered{};
[[gnu::tls_model("initial-exec")]] constinit thread_local Memory state = Memory::none;

struct Keeper {
  std::array<std::shared_ptr<const Kernel>, slots> kernels;
  Keeper() { state = Memory::made; }
  ~Keeper() {
    state = Memory::gone;
    remembered = {};
  }
};

Keeper& keeper_of_thread() {
  thread_local Keeper keeper;
  return keeper;
}

} // namespace

// Of a kernel whose name is known. A module beside its own has other variables, and is of no use to
// stages that need their own.
std::string Kernels::find_contract(Kernel& kernel, DeviceReader& reader) const {
  kernel.versions = kernel.module;
  const auto beside =
      late_ == nullptr ? LateVersions::Beside() : late_->beside(kernel.context, kernel.module);
  const bool is_beside = beside.kernels != nullptr && beside.kernels->contains(kernel.name);
  if (is_beside) kernel.versions = beside.module;
  std::string why = read_contract(kernel, reader, ahead_);
  if (!is_beside || !why.empty()) return why;
  std::erase_if(kernel.contract.sequences, [&](const contract::Sequence& sequence) {
    return !std::ranges::all_of(sequence.stages, [&](const contract::Sequence::Stage& stage) {
      return beside.kernels->contains(stage.kernel);
    });
  });
  return {};
}

const Kernel* Kernels::find(CUfunction handle) {
  const Key key{handle, current_context()};
  const std::size_t at = Hash()(key) / 16 % slots;
  Remembered& slot = remembered[at];
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  if (slot.epoch == epoch && slot.key == key) return slot.kernel;
  if (state == Memory::gone) return nullptr;
  std::shared_ptr<const Kernel>& kept = keeper_of_thread().kernels[at];
  kept = look_up(key, epoch);
  slot = {epoch, key, kept.get()};
  return slot.kernel;
}

std::shared_ptr<const Kernel> Kernels::look_up(const Key& key, std::uint64_t epoch) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  auto made = std::make_shared<Kernel>(); // no lock is held while the driver is asked
  const Relaxed relaxed;
  made->context = key.context;
  made->why = name_kernel(*made, key.handle);
  if (made->why.empty()) {
    if (auto known = prepared(*made)) {
      made = std::move(known);
    } else {
      DeviceReader reader;
      made->why = find_contract(*made, reader);
      if (made->why.empty()) made->why = find_versions(*made);
      if (steps_found_ && !has_passes(*made)) prepare_others(*made, epoch, reader);
    }
  }
  made->shapes = shapes_of(*made);
  made->identity = words::hash(made->name) ^ made->contract.code;
  note_stages(*made, epoch);
  const std::lock_guard lock(mutex_);
  if (epoch_.load(std::memory_order_relaxed) != epoch) return made; // its module may be gone
  made->is_stage = stages_.contains({made->context, made->module, made->name});
  if (known_.size() >= most_kernels) known_.clear();
  return known_.try_emplace(key, std::move(made)).first->second;
}

// What was made ready of this one, from now on the caller's.
std::shared_ptr<Kernel> Kernels::prepared(const Kernel& named) {
  const std::lock_guard lock(mutex_);
  auto found = prepared_.extract({named.context, named.module, named.name});
  return found.empty() ? nullptr : std::move(found.mapped());
}

// The kernels with time steps of a module of which another one, the first, is launched.
void Kernels::prepare_others(const Kernel& first, std::uint64_t epoch, DeviceReader& reader) {
  constexpr unsigned most_functions = 512;
  constexpr auto longest = std::chrono::milliseconds(20);
  {
    const std::lock_guard lock(mutex_);
    if (modules_.size() >= most_kernels || !modules_.emplace(first.context, first.module).second)
      return;
  }
  const Driver& d = driver();
  unsigned count = 0;
  if (!d.module_get_function_count || !d.module_enumerate_functions ||
      d.module_get_function_count(&count, first.module) != CUDA_SUCCESS || count > most_functions)
    return;
  std::vector<CUfunction> all(count);
  if (d.module_enumerate_functions(all.data(), count, first.module) != CUDA_SUCCESS) return;
  const auto begin = std::chrono::steady_clock::now();
  bool found = false;
  for (CUfunction function : all)
    if (std::chrono::steady_clock::now() - begin < longest)
      found = prepare(first, function, epoch, reader) || found;
  if (found) steps_found_();
}

bool Kernels::prepare(const Kernel& first, CUfunction function, std::uint64_t epoch,
                      DeviceReader& reader) {
  const Driver& d = driver();
  auto made = std::make_shared<Kernel>();
  made->context = first.context;
  const char* name = nullptr;
  if (function == nullptr || d.func_get_name(&name, function) != CUDA_SUCCESS ||
      name == first.name || !name_kernel(*made, function).empty() ||
      !find_contract(*made, reader).empty() || !has_passes(*made) || !find_versions(*made).empty())
    return false;
  load_steps(*made);
  made->are_steps_asked_for = true;
  note_stages(*made, epoch);
  const std::lock_guard lock(mutex_);
  if (epoch_.load(std::memory_order_relaxed) != epoch) return false;
  prepared_[{made->context, made->module, made->name}] = made;
  return true;
}

// Launches of the stages are looked at from now on, whatever threads remember of them.
void Kernels::note_stages(const Kernel& first, std::uint64_t epoch) {
  if (!steps_found_ || first.contract.sequences.empty()) return;
  const std::lock_guard lock(mutex_);
  if (epoch_.load(std::memory_order_relaxed) != epoch) return;
  for (const contract::Sequence& sequence : first.contract.sequences)
    for (const contract::Sequence::Stage& stage : sequence.stages)
      stages_.emplace(first.context, first.module, stage.kernel);
  for (const auto& [key, kernel] : known_)
    if (stages_.contains({kernel->context, kernel->module, kernel->name})) kernel->is_stage = true;
  passing_epoch().fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<Shapes> Kernels::shapes_of(const Kernel& kernel) {
  const std::string key = kernel.name + '\n' + std::to_string(kernel.contract.code) + '\n' +
                          kernel.chip + (kernel.versions == kernel.module ? "" : "\nbeside");
  const std::lock_guard lock(mutex_);
  if (const auto found = shapes_.find(key); found != shapes_.end()) return found->second;
  if (shapes_.size() >= most_remembered) return nullptr;
  return shapes_.try_emplace(key, std::make_shared<Shapes>(kernel)).first->second;
}

std::vector<std::shared_ptr<Shapes>> Kernels::all_shapes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Shapes>> all;
  for (const auto& [key, shapes] : shapes_)
    all.push_back(shapes);
  return all;
}

std::uint64_t Kernels::next_epoch() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void Kernels::forget_all() {
  const std::lock_guard lock(mutex_);
  known_.clear();
  prepared_.clear();
  stages_.clear();
  modules_.clear();
  epoch_.store(next_epoch(), std::memory_order_release);
}

} // namespace ptxasw::launch
