// Bodies of entries, decompressed; and what a changed fat binary may do: be refused, or read.
#include "image/entry.hpp"

#include "recorded.hpp"
#include "sass/same_function.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace ptxasw::image {
namespace {

struct Bodies {
  std::string code, text;
};
Bodies bodies_of(const std::string& name) {
  const std::string image = recorded(name);
  const Choice choice = choose(probe(bytes_of(image)), Chip{90});
  return {body_of(*choice.code).value_or(""), body_of(*choice.text).value_or("")};
}

TEST(Bodies, AreTheSameHoweverTheyWereCompressed) {
  const Bodies plain = bodies_of("plain");
  EXPECT_THAT(plain.text, testing::HasSubstr(".target sm_90"));
  EXPECT_EQ(plain.text.find('\0'), std::string::npos);
  for (const char* name : {"zstd", "lz4", "all"}) {
    const Bodies other = bodies_of(name);
    EXPECT_EQ(other.text, plain.text) << name;
    EXPECT_EQ(sass::kernels_of(sass::Cubin(other.code)), sass::kernels_of(sass::Cubin(plain.code)));
  }
}

TEST(Bodies, ASizeThatCannotBeIsNotMadeRoomFor) {
  const std::string image = recorded("zstd");
  Entry entry = *choose(probe(bytes_of(image)), Chip{90}).text;
  for (const std::uint64_t size : {entry.size - 1, entry.size + 1, largest_body})
    for (const Compression compression : {Compression::zstd, Compression::lz4}) {
      entry.size = size;
      entry.compression = compression;
      EXPECT_FALSE(body_of(entry)) << size;
    }
  entry.size = largest_body + 1;
  EXPECT_EQ(body_of(entry).error(), Reason::too_large);
  entry.size = 1;
  entry.compression = Compression::unknown;
  EXPECT_EQ(body_of(entry).error(), Reason::compression);
}

// All that is read of an image before a ptxas is asked.
std::size_t read_all(const std::string& image) {
  std::size_t sum = 0;
  const Probe found = probe(bytes_of(image));
  for (const Entry& entry : found.entries) {
    const auto body = body_of(entry);
    if (!body) continue;
    sum += body->size();
    const sass::Cubin cubin(*body);
    sum += sass::kernels_of(cubin).size() + sass::differences(cubin, cubin).size();
    if (const auto note = sass::tool_note(cubin)) sum += note->options.size();
  }
  return sum;
}

TEST(Bodies, ChangedImagesAreRefusedOrRead) {
  constexpr int seeds = 1500; // of each
  std::mt19937 random(1);
  for (const char* name : {"zstd", "lz4", "plain", "all", "two"}) {
    const std::string image = recorded(name);
    ASSERT_FALSE(image.empty());
    for (int seed = 0; seed < seeds; ++seed) {
      std::string changed = image;
      for (unsigned n = 1 + random() % 4; n != 0; --n) {
        const std::size_t at = random() % changed.size();
        switch (random() % 4) {
        case 0: changed[at] = static_cast<char>(random()); break;
        case 1: changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8)); break;
        case 2: changed.resize(at + 1); break;
        default: changed.replace(at, 4, std::string(4, random() % 2 == 0 ? '\0' : '\xff')); break;
        }
      }
      (void)read_all(changed);
    }
  }
}

// A cubin, with what a section of it holds changed by one byte at its end.
std::string with_other(const std::string& cubin, std::string_view section) {
  const sass::Section* found = nullptr;
  const sass::Cubin parts(cubin);
  found = parts.find(section);
  if (found == nullptr || found->bytes.empty()) return {};
  std::string changed = cubin;
  const auto at = static_cast<std::size_t>(found->bytes.data() - cubin.data());
  changed[at + found->bytes.size() - 1] =
      static_cast<char>(changed[at + found->bytes.size() - 1] ^ 1);
  return changed;
}

TEST(SameFunction, AnyByteOfItCounts) {
  const std::string cubin = bodies_of("zstd").code;
  const auto other = [&](std::string_view section) {
    const std::string changed = with_other(cubin, section);
    EXPECT_FALSE(changed.empty()) << section;
    return sass::differences(sass::Cubin(cubin), sass::Cubin(changed));
  };
  EXPECT_TRUE(sass::differences(sass::Cubin(cubin), sass::Cubin(cubin)).empty());
  EXPECT_THAT(other(".text.scale"), testing::ElementsAre(testing::Key("scale")));
  EXPECT_THAT(other(".nv.info.weigh"), testing::ElementsAre(testing::Key("weigh")));
  EXPECT_THAT(other(".nv.constant0.scale"), testing::ElementsAre(testing::Key("scale")));
  EXPECT_THAT(other(".nv.constant3"), testing::ElementsAre(testing::Key("")));
  EXPECT_TRUE(other(".note.nv.tkinfo").empty());
  EXPECT_FALSE(other(".nv.info").empty());
  const std::string none;
  EXPECT_EQ(sass::differences(sass::Cubin(cubin), sass::Cubin(none)).size(), 3);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? text : text.replace(at, what.size(), by);
}

// What ptxas made for one kernel, whatever its number in the module.
TEST(SameFunction, HelpersAreKnownByTheirKernels) {
  const std::string cubin = bodies_of("divisions").code,
                    more = bodies_of("divisions_renumbered").code;
  const auto other = [&](const std::string& changed) {
    return sass::differences(sass::Cubin(cubin), sass::Cubin(changed));
  };
  const std::string name = "__cuda_sm3x_div_rn_noftz_f32_slowpath",
                    first = "$__internal_1_$" + name;
  ASSERT_NE(more.find("$__internal_2_$" + name), more.npos);
  EXPECT_THAT(other(more), testing::IsEmpty());
  EXPECT_THAT(other(replaced(cubin, first, "$__internal_7_$" + name)), testing::IsEmpty());
  EXPECT_THAT(other(replaced(cubin, first, "$__internal_1_$" + replaced(name, "rn", "rz"))),
              testing::ElementsAre(testing::Key("first+368 " + name)));
  // Not of the form.
  EXPECT_THAT(other(replaced(cubin, first, "$__external_1_$" + name)),
              testing::ElementsAre(testing::Key("first+368 " + name)));
}

// Its code, where it lies, and what is said of it.
TEST(SameFunction, HelpersAreComparedLikeOthers) {
  const std::string cubin = bodies_of("divisions").code;
  const sass::Cubin parts(cubin);
  const auto symbols = parts.symbols();
  const auto helper = std::ranges::find_if(symbols, [](const sass::Symbol& symbol) {
    return symbol.name.find("f32_slowpath") != symbol.name.npos;
  });
  ASSERT_NE(helper, symbols.end());
  const std::string_view code = parts.sections()[helper->section].bytes;
  std::string changed = cubin;
  changed[static_cast<std::size_t>(code.data() - cubin.data()) + helper->value] ^= 1;
  EXPECT_THAT(sass::differences(parts, sass::Cubin(changed)),
              testing::UnorderedElementsAre(testing::Key("first"),
                                            testing::Key(testing::StartsWith("first+368 __cuda"))));
  // Another offset, size, visibility: the last 16 bytes of a symbol, and its fifth and sixth.
  const std::string_view table = parts.find(".symtab")->bytes;
  const std::size_t row = static_cast<std::size_t>(table.data() - cubin.data()) +
                          24 * static_cast<std::size_t>(helper - symbols.begin());
  for (const std::size_t at : {row + 5, row + 8, row + 16}) {
    changed = cubin;
    changed[at] ^= 4;
    EXPECT_THAT(sass::differences(parts, sass::Cubin(changed)),
                testing::ElementsAre(testing::Key(testing::StartsWith("first+368 __cuda"))))
        << at - row;
  }
}

TEST(Note, NamesReleaseAndOptions) {
  const std::string cubin = bodies_of("options").code;
  const auto note = sass::tool_note(sass::Cubin(cubin));
  ASSERT_TRUE(note);
  EXPECT_EQ(note->tool, "ptxas");
  EXPECT_EQ(note->release, "Cuda compilation tools, release 13.0, V13.0.88");
  EXPECT_THAT(std::string(note->options), testing::HasSubstr("-maxrregcount 40 -lineinfo"));
}

} // namespace
} // namespace ptxasw::image
