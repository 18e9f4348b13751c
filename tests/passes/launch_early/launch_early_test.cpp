// Where the wait stands, and which kernels get none.
#include "passes/launch_early/launch_early.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ptxasw::passes::launch_early {
namespace {

struct Made {
  Reason refused = Reason::none;
  std::string text;
};

// Of the last kernel of a module.
Made made(const std::string& body, const std::string& before = "",
          const std::string& head = ".version 8.0\n.target sm_90\n",
          const std::string& directives = "") {
  const ptx::Module module =
      ptx::parse(head + ".address_size 64\n" + before + ".visible .entry k(.param .u64 p)" +
                     directives + "\n{\n" + body + "\tret;\n}\n",
                 "k.ptx");
  EXPECT_TRUE(module.diagnostics.empty());
  const Plan plan = find(module, module.functions.back());
  if (!plan.refused.empty()) return {plan.refused.reason, {}};
  const ptx::Edit edit = emit(plan);
  return {Reason::none, ptx::print(module, {&edit, 1})};
}

TEST(LaunchEarly, BeforeAllElse) {
  EXPECT_THAT(made("\t.reg .b64 %a<3>;\n\t.loc 1 2 3\n\tld.param.u64 %a1, [p];\n").text,
              testing::HasSubstr("\t.loc 1 2 3\n\tgriddepcontrol.wait;\n\tld.param.u64"));
  EXPECT_THAT(made("").text, testing::HasSubstr("{\n\tgriddepcontrol.wait;\n\tret;"));
}

// A loop that begins at the first instruction waits once.
TEST(LaunchEarly, BeforeALabel) {
  EXPECT_THAT(made("$again:\n\tbra $again;\n").text,
              testing::HasSubstr("griddepcontrol.wait;\n\t$again:\n\tbra"));
}

// In a scope of its own as well.
TEST(LaunchEarly, WithinAScope) {
  EXPECT_THAT(made("{\n\t.reg .b32 %r;\n\tmov.u32 %r, %tid.x;\n}\n").text,
              testing::HasSubstr(".reg .b32 %r;\n\tgriddepcontrol.wait;\n\tmov.u32"));
}

TEST(LaunchEarly, WhereTheTargetHasIt) {
  EXPECT_EQ(made("", "", ".version 8.0\n.target sm_89\n").refused, Reason::old_module);
  EXPECT_EQ(made("", "", ".version 7.7\n.target sm_90\n").refused, Reason::old_module);
  EXPECT_EQ(made("", "", ".version 7.8\n.target sm_90\n").refused, Reason::none);
  EXPECT_EQ(made("", "", ".version 8.6\n.target sm_120a\n").refused, Reason::none);
}

TEST(LaunchEarly, NotWhereItMightMatter) {
  EXPECT_EQ(made("\tgriddepcontrol.launch_dependents;\n").refused, Reason::fence);
  EXPECT_EQ(made("\tgriddepcontrol.wait;\n").refused, Reason::fence);
  EXPECT_EQ(made("", "", ".version 8.0\n.target sm_90\n", " .explicitcluster").refused,
            Reason::clusters);
  EXPECT_EQ(made("\t.reg .f32 %f<4>;\n\t.reg .b32 %r;\n"
                 "\ttex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r}];\n",
                 ".global .texref t;\n")
                .refused,
            Reason::surface);
  EXPECT_EQ(made("\tfrobnicate.b32 %r1;\n").refused, Reason::unknown_instruction);
}

TEST(LaunchEarly, NotWhereACallMayStartAGrid) {
  const std::string call = "\tcall.uni f;\n", starts = ".extern .func cudaLaunchDeviceV2;\n";
  EXPECT_EQ(made(call, ".func f\n{\n\tret;\n}\n").refused, Reason::none);
  EXPECT_EQ(made(call, ".extern .func f;\n").refused, Reason::call);
  EXPECT_EQ(made(call, ".weak .func f\n{\n\tret;\n}\n").refused, Reason::call)
      << "the linker may take another one";
  EXPECT_EQ(made("\tcall.uni vprintf;\n", ".extern .func vprintf;\n").refused, Reason::none);
  EXPECT_EQ(made(call, starts + ".func f\n{\n\tcall.uni cudaLaunchDeviceV2;\n\tret;\n}\n").refused,
            Reason::call);
  EXPECT_EQ(made("\t.reg .b64 %a;\n\tcall.uni %a, proto;\n\tproto: .callprototype _ ();\n").refused,
            Reason::call);
  EXPECT_EQ(made(call, ".func f\n{\n\tcall.uni f;\n\tret;\n}\n").refused, Reason::none)
      << "it calls itself";
}

TEST(LaunchEarly, OnlyKernels) {
  const ptx::Module module =
      ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.func f\n{\n\tret;\n}\n", "f.ptx");
  EXPECT_EQ(find(module, module.functions.back()).refused.reason, Reason::not_a_kernel);
}

} // namespace
} // namespace ptxasw::passes::launch_early
