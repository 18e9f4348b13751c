#!/usr/bin/env bash
# The Debian package in a clean Debian: installed by apt with its dependencies, tried, and taken away
# without a trace. usage: clean_root.sh PACKAGE.deb [ROOT]     needs root, debootstrap and a mirror.
# ROOT is a debootstrapped folder that may be changed; without one a new one is made and removed.
set -euo pipefail
package=$(realpath "$1")
source=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "SKIP: needs root and debootstrap"; exit 77; }
fail() { echo "FAIL: $*" >&2; exit 1; }
root=${2:-}
if [ -z "$root" ]; then
  work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
  root=$work/root
  debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || fail "$(tail -5 "$work/log")"
fi
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

cp "$package" "$root/tmp/ptxasw.deb"
cp "$source/tests/golden/ptx/jacobi.ptx" "$source/tests/golden/ptx/boxes.ptx" "$root/tmp/"
inside find / -xdev -path /var -prune -o -path /tmp -prune -o -path /root -prune -o -type f -print | sort >"$root/tmp/before"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /tmp/ptxasw.deb >/dev/null || fail "it does not install"
inside ptxasw help | grep self-test >/dev/null || fail "the installed program"
inside ptxasw report --shuffle=all /tmp/jacobi.ptx | grep 'rewritten by shuffles' >/dev/null || fail "report, without a ptxas"
inside ptxasw opt --shuffle=all /tmp/jacobi.ptx -o /tmp/new.ptx >/dev/null || fail "opt"
inside ptxasw verify /tmp/jacobi.ptx /tmp/new.ptx --launches 4 >/dev/null || [ $? = 3 ] || fail "verify"
inside ptxasw report --format=html /tmp/boxes.ptx -o /tmp/boxes.html || fail "the page"
inside grep -q '</html>' /tmp/boxes.html || fail "the page is whole"
[ "$(inside ptxasw launch -- /bin/echo ran)" = ran ] || fail "launch"
inside apt-get purge -y -qq ptxasw >/dev/null
inside apt-get autoremove --purge -y -qq >/dev/null
inside find / -xdev -path /var -prune -o -path /tmp -prune -o -path /root -prune -o -type f -print | sort >"$root/tmp/after"
left=$(comm -13 "$root/tmp/before" "$root/tmp/after" | grep -v '\.pyc$\|/ld.so.cache' || true)
[ -z "$left" ] || fail "left behind: $left"
echo "ok: $(basename "$package") in a clean Debian"
