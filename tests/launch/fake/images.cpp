// The functions of the fake driver that load images and tell what they have.
//
// Machine code is an ELF file. One that says "fake:TAG" behind its magic has what the test says of
// this tag (Driver::contents); of others the symbols are read, as of a cubin. A fat binary is its
// entry of machine code for sm_90, which has to lie there as it is. So has a PTX text; others are
// compiled by FAKE_COMPILER, if it is set: a program that is called with "load" or "link", a text,
// and the cubin to make.
#include "images.hpp"

#include "fake.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <list>
#include <span>
#include <string_view>
#include <unistd.h>

#undef cuModuleGetGlobal
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile

namespace {

using fake::Function;
using fake::Library;
using fake::Module;

fake::Driver& state() {
  return *fake_driver();
}

constexpr std::string_view fake_mark = "fake:";
constexpr std::size_t mark_at = 24;

template <class T> T at(const void* image, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(image) + offset, sizeof value);
  return value;
}

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Empty: it makes nothing.
std::string compiled(const char* how, const std::string& text) {
  const char* const compiler = std::getenv("FAKE_COMPILER");
  std::string folder = "/tmp/fake-compiler-XXXXXX";
  if (compiler == nullptr || ::mkdtemp(folder.data()) == nullptr) return {};
  const std::string in = folder + "/in.ptx", out = folder + "/out.cubin";
  std::ofstream(in, std::ios::binary) << text;
  const std::string command = std::string(compiler) + ' ' + how + ' ' + in + ' ' + out;
  std::string made = std::system(command.c_str()) == 0 ? content_of(out.c_str()) : std::string();
  for (const std::string& file : {in, out})
    ::unlink(file.c_str());
  ::rmdir(folder.c_str());
  return made;
}

bool is_text(const void* image) {
  return image != nullptr && (at<char>(image, 0) == '.' || at<char>(image, 0) == '/');
}

// Kept for ever.
const char* code_of_text(const std::string& text) {
  static auto& all = *new std::list<std::string>;
  if (const std::size_t mark = text.find(fake_mark); mark != text.npos) {
    std::string& code = all.emplace_back(ELFMAG);
    code.resize(mark_at);
    code += text.substr(mark, text.find('\n', mark) - mark) + '\0';
    return code.data();
  }
  std::string& code = all.emplace_back(compiled("load", text));
  return code.empty() ? nullptr : code.data();
}

// The machine code that a pointer leads to; null: none for this chip, or no image.
const char* code_of(const void* image) {
  if (image == nullptr) return nullptr;
  if (is_text(image)) return code_of_text(static_cast<const char*>(image));
  const auto magic = at<unsigned>(image, 0);
  if (magic == 0x466243b1) return code_of(at<const void*>(image, 8));
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) return static_cast<const char*>(image);
  if (magic != 0xba55ed50) return nullptr;
  const auto* entry = static_cast<const char*>(image) + at<unsigned short>(image, 6);
  const char* const end = entry + at<unsigned long long>(image, 8);
  const char* text = nullptr;
  while (entry < end) {
    const char* const body = entry + at<unsigned>(entry, 4);
    if (at<unsigned short>(entry, 0) == 2 && at<unsigned>(entry, 28) == 90) return body;
    if (at<unsigned short>(entry, 0) == 1) text = body;
    entry = body + at<unsigned long long>(entry, 8);
  }
  return text == nullptr ? nullptr : code_of_text(text);
}

std::string tag_of(const char* code) {
  const char* const mark = code + mark_at;
  if (std::string_view(mark, fake_mark.size()) != fake_mark) return {};
  return mark + fake_mark.size();
}

// Kernels and constants of a cubin.
void read_symbols(const char* code, Module& module) {
  const auto header = at<Elf64_Ehdr>(code, 0);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), code + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* const names = code + sections.at(table.sh_link).sh_offset;
    for (std::size_t n = 0; n < table.sh_size / sizeof(Elf64_Sym); ++n) {
      const auto symbol = at<Elf64_Sym>(code, table.sh_offset + n * sizeof(Elf64_Sym));
      const std::string name = names + symbol.st_name;
      constexpr unsigned char entry = 0x10; // STO_CUDA_ENTRY
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & entry) != 0)
        state().add(module, name, {});
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= sections.size())
        continue;
      const Elf64_Shdr& data = sections[symbol.st_shndx];
      module.globals[name] =
          data.sh_type == SHT_NOBITS
              ? std::string(symbol.st_size, '\0')
              : std::string(code + data.sh_offset + symbol.st_value, symbol.st_size);
    }
  }
}

CUresult load(Module** made, const void* image) {
  const char* const code = code_of(image);
  if (code == nullptr)
    return image == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_IMAGE;
  const std::string tag = tag_of(code);
  auto module = std::make_unique<Module>();
  module->image = tag;
  if (tag.empty()) {
    read_symbols(code, *module);
  } else {
    const auto found = state().contents.find(tag);
    if (found == state().contents.end()) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    found->second(state(), *module);
  }
  const std::lock_guard lock(state().mutex);
  state().loaded.push_back(tag);
  *made = state().modules.emplace_back(std::move(module)).get();
  return CUDA_SUCCESS;
}

CUresult load_module(const char* by, CUmodule* module, const void* image) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().calls[by];
  }
  if (state().tool) state().tool(by);
  Module* made = nullptr;
  const CUresult result = load(&made, image);
  if (result == CUDA_SUCCESS) *module = reinterpret_cast<CUmodule>(made);
  return result;
}

Library* library_of(CUlibrary handle) {
  for (const auto& library : state().libraries)
    if (reinterpret_cast<CUlibrary>(library.get()) == handle) return library.get();
  return nullptr;
}

Module* module_of(CUlibrary handle) {
  Library* const library = library_of(handle);
  if (library == nullptr) return nullptr;
  if (library->module == nullptr) library->result = load(&library->module, library->image);
  return library->module;
}

CUkernel kernel_of(Function& function) {
  for (const auto& known : state().kernels)
    if (*known == &function) return reinterpret_cast<CUkernel>(known.get());
  return reinterpret_cast<CUkernel>(state().kernel_of(function));
}

template <class Found, class Make>
CUresult list(const Module* module, Found* found, unsigned room, const Make& make) {
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& [name, function] : module->functions)
    if (room-- != 0)
      *found++ = make(*function);
    else
      break;
  return CUDA_SUCCESS;
}

// Of the linker: the last text, and what came of it.
struct Link {
  std::string text, cubin;
};

CUresult begin_link(const char* by, CUlinkState* link) {
  const std::lock_guard lock(state().mutex);
  ++state().calls[by];
  *link = reinterpret_cast<CUlinkState>(new Link);
  return CUDA_SUCCESS;
}

CUresult add_to(CUlinkState link, CUjitInputType type, std::string_view text) {
  if (type == CU_JIT_INPUT_PTX && text.find_first_not_of('\0') == text.npos)
    return CUDA_ERROR_INVALID_PTX;
  if (type == CU_JIT_INPUT_PTX)
    reinterpret_cast<Link*>(link)->text = text.substr(0, text.find('\0'));
  if (type == CU_JIT_INPUT_FATBINARY && at<unsigned>(text.data(), 0) == 0xba55ed50)
    reinterpret_cast<Link*>(link)->text = text;
  return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* link) {
  return begin_link("cuLinkCreate", link);
}
CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* link) {
  return begin_link("cuLinkCreate of CUDA 5.5", link);
}
CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void* data, size_t size,
                          const char*, unsigned, CUjit_option*, void**) {
  return add_to(link, type, {static_cast<const char*>(data), size});
}
CUresult cuLinkAddData(CUlinkState link, CUjitInputType type, void* data, size_t size, const char*,
                       unsigned, CUjit_option*, void**) {
  return add_to(link, type, {static_cast<const char*>(data), size});
}
CUresult cuLinkAddFile_v2(CUlinkState link, CUjitInputType type, const char* path, unsigned,
                          CUjit_option*, void**) {
  return add_to(link, type, content_of(path));
}
CUresult cuLinkAddFile(CUlinkState link, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
  return add_to(link, type, content_of(path));
}
CUresult cuLinkComplete(CUlinkState link, void** cubin, size_t* size) {
  auto& of = *reinterpret_cast<Link*>(link);
  of.cubin = state().linker ? state().linker(of.text) : compiled("link", of.text);
  *cubin = of.cubin.data();
  *size = of.cubin.size();
  return of.cubin.empty() ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState link) {
  delete reinterpret_cast<Link*>(link);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_module("cuModuleLoadData", module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  for (unsigned n = 0; n < count; ++n)
    if (options[n] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) values[n] = nullptr; // nothing is said
  return load_module("cuModuleLoadDataEx", module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_module("cuModuleLoadFatBinary", module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  const std::string content = content_of(path);
  if (content.empty()) return CUDA_ERROR_FILE_NOT_FOUND;
  return load_module("cuModuleLoad", module, content.data());
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  *count = static_cast<unsigned>(reinterpret_cast<Module*>(module)->functions.size());
  return CUDA_SUCCESS;
}
CUresult cuModuleEnumerateFunctions(CUfunction* found, unsigned room, CUmodule module) {
  return list(reinterpret_cast<Module*>(module), found, room,
              [](Function& function) { return reinterpret_cast<CUfunction>(&function); });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption* options, void** values, unsigned count) {
  {
    const std::lock_guard lock(state().mutex);
    ++state().calls["cuLibraryLoadData"];
  }
  if (state().tool) state().tool("cuLibraryLoadData");
  bool is_preserved = false;
  for (unsigned n = 0; n < count; ++n)
    is_preserved =
        is_preserved || (options[n] == CU_LIBRARY_BINARY_IS_PRESERVED && values != nullptr);
  auto made = std::make_unique<Library>();
  made->image = image;
  if (!state().is_lazy || !is_preserved) made->result = load(&made->module, image);
  if (made->result != CUDA_SUCCESS) return made->result;
  const std::lock_guard lock(state().mutex);
  *library = reinterpret_cast<CUlibrary>(state().libraries.emplace_back(std::move(made)).get());
  return CUDA_SUCCESS;
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  const std::string content = content_of(path);
  if (content.empty()) return CUDA_ERROR_FILE_NOT_FOUND;
  return cuLibraryLoadData(library, content.data(), options, values, count, nullptr, nullptr, 0);
}
CUresult cuLibraryUnload(CUlibrary library) {
  const std::lock_guard lock(state().mutex);
  std::erase_if(state().libraries, [&](const auto& each) {
    return reinterpret_cast<CUlibrary>(each.get()) == library;
  });
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  *module = reinterpret_cast<CUmodule>(module_of(library));
  return *module == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  Module* const module = module_of(library);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
  *kernel = kernel_of(*found->second);
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  Module* const module = module_of(library);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}
CUresult cuLibraryEnumerateKernels(CUkernel* found, unsigned room, CUlibrary library) {
  return list(module_of(library), found, room,
              [](Function& function) { return kernel_of(function); });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* at, size_t* size, CUlibrary library, const char* name) {
  Module* const module = module_of(library);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto found = module->globals.find(name);
  if (found == module->globals.end()) return CUDA_ERROR_NOT_FOUND;
  if (at != nullptr) *at = reinterpret_cast<CUdeviceptr>(found->second.data());
  if (size != nullptr) *size = found->second.size();
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  for (const auto& known : state().kernels)
    if (reinterpret_cast<CUkernel>(known.get()) == kernel) {
      *name = (*known)->name.c_str();
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_HANDLE;
}

} // extern "C"

namespace fake {

const std::map<std::string, void*>& images_by_name() {
  static const std::map<std::string, void*> all{
#define FAKE_FUNCTION(name) {#name, reinterpret_cast<void*>(&name)}
      {"cuLinkCreate", reinterpret_cast<void*>(&cuLinkCreate_v2)},
      {"cuLinkAddData", reinterpret_cast<void*>(&cuLinkAddData_v2)},
      {"cuLinkAddFile", reinterpret_cast<void*>(&cuLinkAddFile_v2)},
      FAKE_FUNCTION(cuLinkComplete),
      FAKE_FUNCTION(cuLinkDestroy),
      FAKE_FUNCTION(cuModuleLoad),
      FAKE_FUNCTION(cuModuleLoadData),
      FAKE_FUNCTION(cuModuleLoadDataEx),
      FAKE_FUNCTION(cuModuleLoadFatBinary),
      FAKE_FUNCTION(cuModuleGetFunctionCount),
      FAKE_FUNCTION(cuModuleEnumerateFunctions),
      FAKE_FUNCTION(cuLibraryLoadData),
      FAKE_FUNCTION(cuLibraryLoadFromFile),
      FAKE_FUNCTION(cuLibraryUnload),
      FAKE_FUNCTION(cuLibraryGetModule),
      FAKE_FUNCTION(cuLibraryGetKernel),
      FAKE_FUNCTION(cuLibraryGetKernelCount),
      FAKE_FUNCTION(cuLibraryEnumerateKernels),
      FAKE_FUNCTION(cuLibraryGetGlobal),
      FAKE_FUNCTION(cuKernelGetName),
      FAKE_FUNCTION(cuModuleGetFunction),
      {"cuModuleGetGlobal", reinterpret_cast<void*>(&cuModuleGetGlobal_v2)},
#undef FAKE_FUNCTION
  };
  return all;
}

} // namespace fake
