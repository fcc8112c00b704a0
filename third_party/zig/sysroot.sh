#!/usr/bin/env bash
# Makes a compiler driver and the libraries for one processor, in the current directory: sysroot.sh x86_64|aarch64 2.28
#
#   wheel/ziglang           Zig, unpacked
#   x86_64/lib              libc++, and the shared libraries' interfaces for the linker
#   x86_64/bin/{cc,ar,ld}   the tools
#
# Zig's own drivers compile these libraries on first use and keep a cache, which Bazel's actions must not write. So the
# libraries are made here, once, and the actions call the clang inside of Zig with the flags that Zig gives it.
#
# libgcc_s stays a shared library. When a thread is ended inside of our code, as pthread_exit() does, the C library
# unwinds with the libgcc_s of the process. It calls our frames' handlers, which must use the same unwinder.
set -euo pipefail
cpu=$1 target=$1-linux-gnu.$2
zig=$PWD/wheel/ziglang/zig
mkdir -p "$cpu"/{bin,lib,cache}
export ZIG_GLOBAL_CACHE_DIR=$PWD/$cpu/cache/global ZIG_LOCAL_CACHE_DIR=$PWD/$cpu/cache/local

# Zig makes all of its libraries for the first program. It is the command's output that has clang's flags.
cd "$cpu/cache"
echo 'int main() {}' >program.cc
commands=$("$zig" c++ -target "$target" -O2 -fPIC -shared -v program.cc -o program.so 2>&1)
# shellcheck disable=SC2016
flags=$(grep -m 1 -e ' -cc1 ' <<<"$commands" | grep -oE -e '-(isystem|D) [^ ]+' | grep -vx -e '-D NDEBUG' |
  sed 's|-isystem .*/ziglang/lib/|-isystem "$root"/wheel/ziglang/lib/|' | paste -sd ' ')
cd ../..
find "$cpu/cache/global" \( -name '*.a' -o -name 'lib*.so.*' \) -exec mv {} "$cpu/lib" \;
for library in "$cpu"/lib/lib*.so.*; do
  mv "$library" "${library%.so.*}.so"
done

# tool NAME COMMAND: the tools find their files beside themselves.
tool() {
  {
    echo '#!/bin/sh'
    # shellcheck disable=SC2016
    echo 'self=$(readlink -f "$0") root=${self%/*/*/*}'
    echo "exec \"\$root\"/wheel/ziglang/zig $2 \"\$@\""
  } >"$cpu/bin/$1"
  chmod +x "$cpu/bin/$1"
}
tool ar ar
tool ld ld.lld
tool cc "clang --target=$cpu-linux-gnu -nostdlib -nostdinc -Wno-unused-command-line-argument $flags \
--sysroot=\"\$root/$cpu\" --ld-path=\"\$root/$cpu/bin/ld\" -L\"\$root/$cpu/lib\""

# The interface of libgcc_s, by the versions of its symbols.
symbols() { # VERSION NAME…
  local version=$1 name
  shift
  for name in "$@"; do
    echo ".globl _Unwind_$name; .type _Unwind_$name, %function; _Unwind_$name:" >&3
  done
  echo "$version { global: $(printf '_Unwind_%s; ' "$@") };"
}
{
  symbols GCC_3.0 DeleteException ForcedUnwind GetDataRelBase GetGR GetIP GetLanguageSpecificData GetRegionStart \
    GetTextRelBase RaiseException Resume SetGR SetIP
  symbols GCC_3.3 Backtrace FindEnclosingFunction GetCFA Resume_or_Rethrow
  symbols GCC_4.2.0 GetIPInfo
} 3>"$cpu/cache/libgcc_s.s" >"$cpu/cache/libgcc_s.map"
"$cpu/bin/cc" -shared -Wl,-soname,libgcc_s.so.1,--version-script,"$cpu/cache/libgcc_s.map" "$cpu/cache/libgcc_s.s" \
  -o "$cpu/lib/libgcc_s.so"
rm -r "$cpu/cache"
