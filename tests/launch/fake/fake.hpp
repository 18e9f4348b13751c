// A driver without a GPU: it records what it is asked, and runs kernels as host functions on host
// memory. It is built as libcuda.so.1; tests hold on to its state by fake_driver().
#pragma once

#include <cuda.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

struct Launched {
  std::string entry;
  std::vector<unsigned> grid, block;
  unsigned shared = 0;
  CUstream stream = nullptr;
  std::vector<std::vector<unsigned char>> parameters;
  std::string by;     // the function of the driver that was called
  bool ahead = false; // with programmatic stream serialization allowed
};

struct Function {
  std::string name;
  struct Module* module = nullptr;
  int most_threads = 1024, registers = 32;
  std::vector<std::size_t> parameters; // their sizes
  CUresult result = CUDA_SUCCESS;      // of launching it
  std::atomic<bool> is_loaded{true};   // false: a lazy driver says nothing about it
  double milliseconds = 1;             // as events tell
  std::function<void(const Launched&)> run;
};

struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, std::string> globals;
  std::map<std::string, std::vector<unsigned char>*> arrays; // variables that are allocations
  std::string image; // that it was loaded from: the tag of its machine code
};

// Loaded when it is first needed, if the driver is lazy.
struct Library {
  const void* image = nullptr;
  std::string copy; // of the machine code, unless the program keeps its own
  Module* module = nullptr;
  CUresult result = CUDA_SUCCESS;
};

// A kernel node of a graph, or of an executable of one: its parameters are its own.
struct Node {
  CUDA_KERNEL_NODE_PARAMS kernel{};
  std::vector<std::vector<unsigned char>> values;
  bool has_next = false, ahead = false; // behind a programmatic edge
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes; // in the order in which they run
  std::vector<std::unique_ptr<Node>> made;  // of the executable, as `nodes`
};

struct Driver {
  std::mutex mutex;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<std::unique_ptr<Function*>> kernels; // a CUkernel is the address of one
  // Images (images.cpp): what machine code of this tag has. Others are looked up in their symbols.
  std::map<std::string, std::function<void(Driver&, Module&)>> contents;
  std::vector<std::unique_ptr<Library>> libraries;
  // What its linker makes of a PTX text; empty: nothing. A text says "fake:TAG" in a comment.
  std::function<std::string(const std::string& text)> linker;
  bool is_lazy = false;
  int devices = 1;
  bool is_second_active = false;     // the other devices have contexts, too
  std::vector<int> capabilities{90}; // of each device; of all others the last
  std::vector<std::string> loaded;   // tags, in the order of loading
  std::vector<std::unique_ptr<Graph>> graphs;
  bool programmatic_edges = true;       // the driver takes them
  CUresult graph_result = CUDA_SUCCESS; // of whatever is asked about graphs
  std::vector<Launched> launches;
  std::map<std::string, unsigned> calls;
  std::map<CUdeviceptr, std::vector<unsigned char>> memory; // by base
  std::map<CUdeviceptr, unsigned long long> numbers;        // of allocations, each given once
  unsigned long long last_number = 0;
  std::size_t room = std::size_t{1} << 30; // for the program's own allocations by the driver
  bool capturing = false;                  // every stream
  CUresult synchronized = CUDA_SUCCESS;    // of waiting for a context
  bool events_done = true;
  bool streams_end = true;
  bool managed = false;                   // all memory
  int multiprocessors = 4, threads = 200; // 800 at a time
  double clock = 0;                       // milliseconds
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::function<void(const char*)> tool; // is called within some functions, by their names
  bool copied_in_strict_mode = false, allocated_in_strict_mode = false;

  Module& add_module() { return *modules.emplace_back(std::make_unique<Module>()); }
  Function& add(Module& module, const std::string& name, std::vector<std::size_t> parameters) {
    auto& made = module.functions[name] = std::make_unique<Function>();
    made->name = name;
    made->module = &module;
    made->parameters = std::move(parameters);
    return *made;
  }
  CUfunction kernel_of(Function& function) {
    return reinterpret_cast<CUfunction>(
        kernels.emplace_back(std::make_unique<Function*>(&function)).get());
  }
  std::vector<unsigned char>& allocate(std::size_t bytes) {
    auto made = std::vector<unsigned char>(bytes);
    const auto base = reinterpret_cast<CUdeviceptr>(made.data());
    numbers[base] = ++last_number;
    return memory[base] = std::move(made);
  }
};

} // namespace fake

extern "C" fake::Driver* fake_driver();
