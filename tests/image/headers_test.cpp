// What the headers of fat binaries say, of real ones and of hostile ones.
#include "recorded.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <sys/mman.h>

namespace ptxasw::image {
namespace {

constexpr Chip sm_90{90}, sm_80{80}, sm_86{86}, sm_100{100}, sm_103{103};

std::string chosen(const std::string& name, const Chip& chip) {
  const std::string image = recorded(name);
  const Choice choice = choose(probe(bytes_of(image)), chip);
  if (choice.reason != Reason::none) return std::string(code(choice.reason));
  return (choice.code ? name_of(choice.code->chip) : "compiled") + " of " +
         name_of(choice.text->chip);
}

TEST(Headers, ChooseAsTheDriverDoes) {
  EXPECT_EQ(chosen("zstd", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("lz4", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("plain", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("all", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("options", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("two", sm_90), "sm_90 of sm_90");
  EXPECT_EQ(chosen("chip_only", sm_90), "sm_90a of sm_90a");
  EXPECT_EQ(chosen("family", sm_100), "sm_100f of sm_100f");
  EXPECT_EQ(chosen("family", sm_103), "sm_100f of sm_100f");
}

// Where there is no machine code the driver compiles.
TEST(Headers, TextForAnEarlierChip) {
  EXPECT_EQ(chosen("zstd", sm_100), "compiled of sm_90");
  EXPECT_EQ(chosen("older", sm_90), "compiled of sm_80");
  EXPECT_EQ(chosen("options", sm_100), "jit-options");
  EXPECT_EQ(chosen("relocatable", sm_100), "relocatable");
  EXPECT_EQ(chosen("debug", sm_100), "debug");
  const Entry older{.kind = Kind::text, .chip = {80}}, newer{.kind = Kind::text, .chip = {86}},
      link{.kind = Kind::link_time, .chip = {90}};
  for (const auto& entries : {std::vector{older, newer}, {newer, older}}) {
    const Choice choice = choose({.entries = entries}, sm_90);
    EXPECT_EQ(choice.reason, Reason::none);
    EXPECT_EQ(choice.text->chip, newer.chip);
  }
  EXPECT_EQ(choose({.entries = {older, older}}, sm_90).reason, Reason::several);
  EXPECT_EQ(choose({.entries = {older, older, newer}}, sm_90).reason, Reason::none);
  EXPECT_EQ(choose({.entries = {older, link}}, sm_90).reason, Reason::link_time);
  EXPECT_EQ(choose({.entries = {newer}}, sm_80).reason, Reason::no_code);
}

TEST(Headers, ReasonsWithoutReadingABody) {
  EXPECT_EQ(chosen("zstd", sm_80), "no-code");
  EXPECT_EQ(chosen("two", sm_80), "no-ptx");
  EXPECT_EQ(chosen("two", sm_86), "no-ptx"); // runs the machine code of sm_80
  EXPECT_EQ(chosen("both", sm_90), "several");
  EXPECT_EQ(chosen("chip_only", sm_103), "no-code");
  EXPECT_EQ(chosen("alone", sm_90), "no-ptx");
  EXPECT_EQ(chosen("debug", sm_90), "debug");
  EXPECT_EQ(chosen("relocatable", sm_90), "relocatable");
  EXPECT_EQ(chosen("link_time", sm_90), "link-time");
}

TEST(Headers, EntriesAsTheyLieThere) {
  const std::string image = recorded("options");
  const Probe found = probe(bytes_of(image));
  ASSERT_EQ(found.entries.size(), 2);
  const Entry &machine = found.entries[0], &text = found.entries[1];
  EXPECT_EQ(machine.kind, Kind::code);
  EXPECT_EQ(machine.compression, Compression::none);
  EXPECT_EQ(machine.name, "kernel.cu");
  EXPECT_EQ(std::memcmp(machine.stored.data(), "\177ELF", 4), 0);
  EXPECT_EQ(text.kind, Kind::text);
  EXPECT_EQ(text.compression, Compression::zstd);
  EXPECT_EQ(text.options, " -maxrregcount=40 --generate-line-info ");
  EXPECT_LT(text.compressed, text.size);
}

TEST(Headers, PointersAreMeasured) {
  const std::string image = recorded("zstd");
  EXPECT_EQ(form_of(image.data()), Form::fat_binary);
  EXPECT_EQ(measured(image.data())->size(), image.size());
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* more = nullptr;
  } wrapper;
  EXPECT_EQ(form_of(&wrapper), Form::wrapper);
  EXPECT_FALSE(measured(&wrapper));
  wrapper.data = image.data();
  EXPECT_EQ(measured(&wrapper)->data(), bytes_of(image).data());
  const Probe plain = probe(bytes_of(image));
  const Bytes cubin = plain.entries[0].stored;
  EXPECT_EQ(form_of(cubin.data()), Form::cubin);
  EXPECT_EQ(measured(cubin.data())->size(), cubin.size());
  EXPECT_EQ(probe(cubin).reason, Reason::cubin_alone);
  const char* text = "\n.version 8.0\n";
  EXPECT_EQ(form_of(text), Form::text);
  EXPECT_EQ(measured(text)->size(), std::strlen(text));
  EXPECT_EQ(form_of(nullptr), Form::unknown);
  EXPECT_FALSE(measured("MZ??"));
}

// Where every byte beyond the image is out of bounds.
class Fence {
public:
  static constexpr std::size_t page = 4096, room = 4 * page;
  Fence()
      : at_(static_cast<char*>(::mmap(nullptr, room + page, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(at_ + room, page, PROT_NONE);
  }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() { ::munmap(at_, room + page); }
  [[nodiscard]] Bytes copy(std::string_view bytes) {
    char* const begin = at_ + room - bytes.size();
    std::memcpy(begin, bytes.data(), bytes.size());
    return bytes_of({begin, bytes.size()});
  }

private:
  char* at_;
};

TEST(Headers, CutImagesAreDamaged) {
  const std::string image = recorded("two");
  Fence fence;
  for (std::size_t size = 0; size < image.size(); ++size)
    ASSERT_NE(probe(fence.copy(std::string_view(image).substr(0, size))).reason, Reason::none)
        << size;
}

TEST(Headers, AnySizeInAnHeaderIsChecked) {
  const std::string image = recorded("options");
  Fence fence;
  for (std::size_t at = 4; at < image.size(); ++at)
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = image;
      changed[at] = value;
      const Probe found = probe(fence.copy(changed));
      std::size_t sum = 0;
      for (const Entry& entry : found.entries) {
        sum += entry.stored.size() + entry.name.size() + entry.options.size();
        ASSERT_LE(entry.compressed, entry.stored.size());
      }
      ASSERT_LE(sum, image.size()) << at;
    }
}

TEST(Headers, TakeNoTimeAndReadNoBody) {
  const std::string image = recorded("two");
  const auto begin = std::chrono::steady_clock::now();
  constexpr int times = 1000;
  for (int n = 0; n < times; ++n)
    ASSERT_EQ(choose(probe(*measured(image.data())), sm_90).reason, Reason::none);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count() / times, 50);
}

TEST(Headers, ChipsHaveNames) {
  for (const char* name : {"sm_90", "sm_90a", "sm_100f", "sm_120"})
    EXPECT_EQ(name_of(*chip_of(name)), name);
  EXPECT_EQ(chip_of("compute_90"), sm_90);
  for (const char* name : {"", "90", "sm_", "sm_90b", "sm_90aa", "sm_x"})
    EXPECT_FALSE(chip_of(name)) << name;
}

TEST(Reasons, AdviceNamesTheChip) {
  EXPECT_THAT(words(Reason::no_text, "sm_90"), testing::HasSubstr("-arch=sm_90"));
  EXPECT_THAT(words(Reason::no_text, "sm_90"), testing::HasSubstr("compute_90"));
  for (const ReasonRow& row : reason_rows())
    EXPECT_EQ(reason_of(row.code), row.reason);
}

} // namespace
} // namespace ptxasw::image
