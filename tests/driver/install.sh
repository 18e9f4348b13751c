# cmake --install gives a program that runs and a package that a program can be built with.
. "$(dirname "$0")/lib.sh"
[ -x "${TOOL:-}" ] || skip "the program is not built"
cmake --build "$BUILD" --target ptxasw_library > log 2>&1 || fail "$(cat log)"
cmake --install "$BUILD" --prefix "$work/prefix" > log 2>&1 || fail "$(cat log)"
prefix/bin/ptxasw help | grep -q self-test || fail "the installed program"
python3 "$SOURCE/tests/docs/check" --installed "$work/prefix/share/doc/ptxasw" > log || fail "installed pages: $(cat log)"
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(ptxasw REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user ptxasw::ptxasw)
END
cat > user.cpp <<'END'
#include <ptxasw/ptxasw.hpp>
#include <iostream>
int main() {
  const auto result = ptxasw::optimize(".version 9.0\n.target sm_90\n.address_size 64\n", "k.ptx");
  std::cout << ptxasw::version() << ' ' << result.changed << '\n';
}
END
cmake -S . -B b -DCMAKE_PREFIX_PATH="$work/prefix" > log 2>&1 || fail "$(cat log)"
cmake --build b > log 2>&1 || fail "$(cat log)"
contains "$(b/user)" " 0" "the user's program"
