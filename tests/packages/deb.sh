#!/usr/bin/env bash
# The Debian package: made, installed into an empty root of dpkg, tried, and taken away without a
# trace. usage: deb.sh BUILD
set -euo pipefail
build=$1
[ "$(id -u)" = 0 ] && command -v dpkg-shlibdeps cpack >/dev/null || { echo "SKIP: needs root, dpkg-dev and cpack"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
(cd "$build" && cpack -G DEB -B "$work/out" >"$work/log" 2>&1) || fail "$(cat "$work/log")"
package=$(ls "$work"/out/ptxasw_*.deb)
case $(dpkg-deb -f "$package" Depends) in *libc6*) ;; *) fail "no dependencies were found" ;; esac
root=$work/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root"/var/lib/dpkg/status
# Its dependencies are those of this machine.
run() { dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"; }
run --install "$package"
ptxasw=$root/usr/bin/ptxasw
# To the end, for a grep that stops early ends its writer, which pipefail tells.
"$ptxasw" help | grep self-test >/dev/null || fail "the installed program"
"$ptxasw" launch --help >/dev/null || fail "launch"
for file in lib/libptxasw.a lib/cmake/ptxasw/ptxaswConfig.cmake include/ptxasw/ptxasw.hpp bin/ptxasw-overlay \
  share/doc/ptxasw/NOTICE share/doc/ptxasw/README.md share/doc/ptxasw/docs/launcher.md share/bash-completion/completions/ptxasw share/zsh/site-functions/_ptxasw \
  share/fish/vendor_completions.d/ptxasw.fish; do
  [ -s "$root/usr/$file" ] || fail "no $file in the package"
done
"$(dirname "$0")/../docs/check" --installed "$root/usr/share/doc/ptxasw" || fail "links of the installed pages"
for command in $("$ptxasw" help --help=words | cut -f1 | grep -vx help); do
  page=$root/usr/share/man/man1/ptxasw-$command.1
  [ -s "$page" ] || fail "no manual page of $command"
  ! command -v man >/dev/null || LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -l "$page" 2>&1 >/dev/null | grep . && fail "$page"
done
# What bash offers.
offered() { # WORDS...: the last one is to be completed
  PATH=$root/usr/bin:$PATH bash -c '
    . "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
    _ptxasw; printf "%s\n" "${COMPREPLY[@]}"' - "$root/usr/share/bash-completion/completions/ptxasw" "$@"
}
offered ptxasw op | grep -x opt >/dev/null || fail "bash: sub-commands"
offered ptxasw report --form | grep -x -- --format=html >/dev/null || fail "bash: options"
offered ptxasw report --format=h | grep -x html >/dev/null || fail "bash: values"
[ -z "$(offered ptxasw k.ptx --)" ] || fail "bash: the drop-in's words are not ours"
run --purge ptxasw
[ -z "$(find "$root/usr" -type f 2>/dev/null)" ] || fail "left behind: $(find "$root/usr" -type f)"
