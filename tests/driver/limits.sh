# Where ptxas can do its work, a build goes on with us in the way: our own files may be longer than files
# may be (ulimit -f), and large pages take addresses that there are not (ulimit -v).
. "$(dirname "$0")/lib.sh"
ptx k.ptx '//@change'
long=$(printf '%2000s' '')
ptx long.ptx '//@change' "// $long"
cat > noting <<END
#!/bin/sh
echo "\${GLIBC_TUNABLES-none}" > "$work/tunables"
case "\$*" in *--version*) ;; *) for last; do :; done; [ "\$last" = -v ] || : > out ;; esac
END
chmod +x noting
( ulimit -f 1; PTXASW_PTXAS=$work/noting "$PTXASW" --ptxasw-shuffle=all long.ptx -o out )
same $? 0 "exit code with files of 1 KB"
unset GLIBC_TUNABLES
( ulimit -v 4000000; PTXASW_PTXAS=$work/noting "$PTXASW" --ptxasw-shuffle=all k.ptx -o out )
same $? 0 "exit code with a limit of addresses"
same "$(cat tunables)" none "no large pages with a limit of addresses"
