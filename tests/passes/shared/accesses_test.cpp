// What a launch contract says of a kernel's accesses.
#include "passes/shared/accesses.hpp"

#include "emulator/kernel_text.hpp"

#include <gmock/gmock.h>

namespace ptxasw::passes {
namespace {

using contract::Access;
using contract::far_apart;
using test::Emulated;
using test::kernel_text;
using testing::ElementsAre;

// %r3 = %tid.x, %r4 = %ctaid.y, n = %r1; elements of 4 bytes at index %r5.
std::vector<Access> accesses(const std::string& body) {
  Emulated k(kernel_text("mov.u32 %r4, %ctaid.y;\n" + body + "\nret;"));
  return accesses_of(k.kernel);
}
const std::string place = "mul.wide.s32 %rd3, %r5, 4; add.s64 %rd3, %rd3, %rd1;";

TEST(Accesses, OfEachAxis) {
  EXPECT_THAT(accesses("mad.lo.s32 %r5, %r3, %r1, %r4;" + place + "ld.global.f32 %f1, [%rd3];"),
              ElementsAre(Access{.along = {far_apart, 4, 0}}));
  EXPECT_THAT(accesses("mad.lo.s32 %r5, %r4, 100, %r3;" + place + "ld.global.f32 %f1, [%rd3];"),
              ElementsAre(Access{.along = {4, 400, 0}}));
}

// What is alike is counted, wherever it begins; stores count like loads.
TEST(Accesses, AlikeTogether) {
  EXPECT_THAT(
      accesses("add.s32 %r5, %r3, %r4;" + place +
               "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+400];"
               "st.global.v2.f32 [%rd3], {%f1, %f2}; st.global.f32 [%rd3+800], %f1;"),
      ElementsAre(Access{.count = 3, .along = {4, 4, 0}}, Access{.bytes = 8, .along = {4, 4, 0}}));
}

// An address that was read is anywhere.
TEST(Accesses, GathersAreFarApart) {
  EXPECT_THAT(
      accesses("mov.u32 %r5, %r3;" + place + "ld.global.u32 %r5, [%rd3];" +
               "mul.wide.s32 %rd4, %r5, 4; add.s64 %rd4, %rd4, %rd1;"
               "ld.global.f32 %f1, [%rd4];"),
      ElementsAre(Access{.along = {4, 0, 0}}, Access{.along = {far_apart, far_apart, far_apart}}));
}

} // namespace
} // namespace ptxasw::passes
