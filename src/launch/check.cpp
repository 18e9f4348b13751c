// Saves memory, runs each way on the same bytes, and compares.
#include "launch/check.hpp"

#include "launch/shapes.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 30; // kept on the host, twice

struct Buffer {
  CUdeviceptr base = 0;
  std::vector<unsigned char> before, after; // the launch
};

class Checker {
public:
  Checker(const Kernel& kernel, const Request& request, const std::function<CUresult()>& own)
      : kernel_(kernel), request_(request), own_(own) {}

  Checked run(const std::vector<Way>& others) {
    if (!find_buffers()) return std::move(result_);
    if (driver().ctx_synchronize() != CUDA_SUCCESS) return not_done("an earlier error");
    for (Buffer& buffer : buffers_)
      if (!read(buffer, buffer.before)) return not_done("memory cannot be read");
    result_.result = own_();
    result_.launched = true;
    if (result_.result != CUDA_SUCCESS || driver().ctx_synchronize() != CUDA_SUCCESS)
      return not_done("the launch fails by itself");
    for (Buffer& buffer : buffers_)
      if (!read(buffer, buffer.after)) return not_done("memory cannot be read");
    result_.outcome = Checked::Outcome::equal;
    for (const Way& way : others) {
      if (!differs(way)) continue;
      if (repeats_itself()) return std::move(result_);
      restore(&Buffer::after);
      return not_done("the kernel does not repeat itself");
    }
    restore(&Buffer::after);
    return std::move(result_);
  }

private:
  Checked not_done(std::string why) {
    result_.outcome = Checked::Outcome::not_done;
    result_.text = std::move(why);
    return std::move(result_);
  }

  bool find_buffers() {
    const Driver& d = driver();
    if (!d.func_get_param_info || !d.mem_get_address_range || !d.copy_to_host ||
        !d.copy_to_device || !d.ctx_synchronize || !d.stream_synchronize) {
      result_.text = "this driver does not tell about parameters or memory";
      return false;
    }
    if (is_capturing(request_.stream)) {
      result_.text = "the stream is being captured";
      return false;
    }
    std::map<CUdeviceptr, std::size_t> ranges;
    std::size_t offset = 0, size = 0, all = 0;
    for (unsigned n = 0; n < kernel_.contract.parameters; ++n) {
      const bool told = d.func_get_param_info(kernel_.function, n, &offset, &size) == CUDA_SUCCESS;
      const void* value_of = told ? parameter_of(request_, n, offset, size) : nullptr;
      if (value_of == nullptr) {
        result_.text = "this driver does not tell about parameters, or they come in another form";
        return false;
      }
      for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= size; at += sizeof(CUdeviceptr)) {
        CUdeviceptr value = 0, base = 0;
        std::size_t bytes = 0;
        std::memcpy(&value, static_cast<const char*>(value_of) + at, sizeof value);
        if (value != 0 && d.mem_get_address_range(&base, &bytes, value) == CUDA_SUCCESS &&
            ranges.emplace(base, bytes).second)
          all += bytes;
      }
    }
    if (all > most_bytes) {
      result_.text = "too much memory";
      return false;
    }
    for (const auto& [base, bytes] : ranges)
      buffers_.push_back({base, std::vector<unsigned char>(bytes), {}});
    return true;
  }

  bool read(const Buffer& buffer, std::vector<unsigned char>& into) const {
    into.resize(buffer.before.size());
    return driver().copy_to_host(into.data(), buffer.base, into.size(), request_.stream) ==
               CUDA_SUCCESS &&
           driver().stream_synchronize(request_.stream) == CUDA_SUCCESS;
  }

  void restore(std::vector<unsigned char> Buffer::*content) const {
    for (const Buffer& buffer : buffers_)
      driver().copy_to_device(buffer.base, (buffer.*content).data(), (buffer.*content).size(),
                              request_.stream);
    driver().stream_synchronize(request_.stream);
  }

  // Goes it on what was before; true if the bytes are not those that the program's own way left.
  bool differs(const Way& way) {
    restore(&Buffer::before);
    if (way.run() != CUDA_SUCCESS) return false; // it would not be taken either
    if (driver().ctx_synchronize() != CUDA_SUCCESS) {
      result_.outcome = Checked::Outcome::differs;
      result_.text = way.name + " fails where the original does not";
      return true;
    }
    return compare(way.name);
  }

  bool compare(const std::string& variant) {
    std::vector<unsigned char> now;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const Buffer& buffer = buffers_[b];
      if (!read(buffer, now)) return false;
      if (std::memcmp(now.data(), buffer.after.data(), now.size()) == 0) continue;
      const auto at =
          static_cast<std::size_t>(std::ranges::mismatch(now, buffer.after).in1 - now.begin());
      result_.outcome = Checked::Outcome::differs;
      result_.text = variant + " differs in buffer " + std::to_string(b + 1) + " of " +
                     std::to_string(buffers_.size()) + " (" + std::to_string(now.size()) +
                     " bytes) at byte " + std::to_string(at) + ": " +
                     std::to_string(buffer.after[at]) + " became " + std::to_string(now[at]);
      return true;
    }
    return false;
  }

  // Does the original leave the same bytes again? What adds floats atomically need not.
  bool repeats_itself() {
    const Checked found = result_;
    restore(&Buffer::before);
    if (own_() != CUDA_SUCCESS || driver().ctx_synchronize() != CUDA_SUCCESS) return true;
    const bool again = !compare("the original");
    result_ = found;
    return again;
  }

  const Kernel& kernel_;
  const Request& request_;
  const std::function<CUresult()>& own_;
  std::vector<Buffer> buffers_;
  Checked result_;
};

} // namespace

Checked check(const Kernel& kernel, const Request& request, const std::function<CUresult()>& own,
              const std::vector<Way>& others) {
  return Checker(kernel, request, own).run(others);
}

} // namespace ptxasw::launch
