// A ptxas that writes down how it was called and does as it is told.
//
// Into $FAKE_RECORD go its arguments, one per line, and an empty line at the end. A call with -o
// FILE writes there "cubin of " and the text of every argument that is a file of PTX (- is standard
// input). Comments in the PTX: //@exit N, //@signal N, //@registers N (said by -v, and one more per
// "// rewritten"), //@warn (a warning that names the file and the line).
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

std::string slurp(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++n;
  return n;
}

int number(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + key.size());
}

void warn(const std::string& path, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n)
    if (line.find("//@warn") != std::string::npos)
      std::cerr << "ptxas " << path << ", line " << n << "; warning : as asked\n";
}

void statistics(const std::string& text) {
  const std::size_t name = text.find(".entry ") + 7;
  const std::string kernel = text.substr(name, text.find_first_of("( \n", name) - name);
  const std::size_t extra = 20 * count(text, "// rewritten");
  std::cerr << "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function '" << kernel
            << "' for 'sm_90'\nptxas info    : Function properties for " << kernel
            << "\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            << "ptxas info    : Used "
            << static_cast<std::size_t>(number(text, "//@registers")) + extra
            << " registers, used 0 barriers\n";
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const char* record = std::getenv("FAKE_RECORD")) {
    std::string call;
    for (const std::string& argument : arguments)
      call += argument + "\n";
    std::ofstream(record, std::ios::app) << call + "\n";
  }
  std::string output, cubin = "cubin of";
  bool verbose = false;
  int code = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--version") std::cout << "Fake, release 13.0, V13.0.88\n";
    if (argument == "-o" || argument == "--output-file") output = arguments.at(++i);
    if (argument == "-v") verbose = true;
  }
  for (const std::string& argument : arguments) {
    if (std::filesystem::is_directory(argument)) continue;
    std::ifstream file(argument);
    const std::string text = argument == "-" ? slurp(std::cin) : slurp(file);
    if (text.find(".version") == std::string::npos || argument == output) continue;
    cubin += " " + text;
    if (text.find("bogus;") != std::string::npos) {
      std::cerr << "ptxas fatal   : bogus\n";
      return 255;
    }
    if (const int signal = number(text, "//@signal ")) std::raise(signal);
    if (text.find("//@sleep") != std::string::npos) ::sleep(30);
    code = number(text, "//@exit ");
    warn(argument, text);
    if (verbose) statistics(text);
  }
  if (!output.empty()) std::ofstream(output) << cubin;
  return code;
}
