#!/usr/bin/env bash
# Builds Dovetail as other repositories do, and runs their programs:
#
#   tests/consumer/run.sh [Bazel flags]              # the quick ways, which compile Dovetail once
#   tests/consumer/run.sh all [Bazel flags]          # every way; each of the others compiles Dovetail anew
#   tests/consumer/run.sh bare aarch64               # some ways
#   BAZEL=tools/modules/bazel7 tests/consumer/run.sh # by modules, under Bazel 7
#
# Goes on after a failure; the last line says which ways failed.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bazel=$(realpath "${BAZEL:-$repository/bazelw}")
cd "$repository/tests/consumer"
flags=()

run() { "$bazel" run "${flags[@]}" "$@"; }
at_most() { # WHAT NUMBER LIMIT
  echo "consumer: $1: $2, at most $3"
  (($2 <= $3))
}

# The README's lines.
main() { run //:main; }

# A door, over a library that only a flag names.
door() { run --@dovetail//interop/eigen:library=@my_eigen//:eigen //:door; }

# Every door's rules load, without the repositories that only its tests need.
doors() { "$bazel" query --noshow_progress '@dovetail//interop/...' | wc -l; }

# A benchmark of one's own.
benchmark() { run //:my_transpose -- --repetitions=2 --benchmark_min_time=0.001; }

# A library tested with the suite for DLPack libraries, in C++17.
conformance() { run --cxxopt=-std=c++17 --host_cxxopt=-std=c++17 //:array_test; }

# A kernel library in a program without Python. No part of its build is of Python's repositories.
kernels() {
  local python
  run //:call_kernels
  run --config=bare //:call_kernels
  "$bazel" build "${flags[@]}" //:kernels
  "$repository/tests/example_projects/check_kernel_library.sh" \
    "$("$bazel" info "${flags[@]}" bazel-bin 2>/dev/null)/kernels.so"
  python=$("$bazel" query --noshow_progress \
    'filter("(dovetail_python|nanobind|pybind11)//", deps(//:kernels) + buildfiles(deps(//:kernels)))')
  echo "consumer: kernels: of Python's repositories: ${python:-nothing}"
  [[ -z $python ]]
}

# Two shared libraries with a copy of Dovetail each, in one process.
shared() { run //:exchange; }

# The same with a namespace of their own.
named() { run --@dovetail//:inline_namespace=consumer //:exchange; }

# The program includes dlpack.h, too: there is one in the build.
dlpack() {
  local headers
  headers=$("$bazel" cquery "${flags[@]}" 'filter("dlpack/dlpack\.h$", deps(//:main))')
  echo "consumer: dlpack.h of $headers"
  [[ $headers == *dlpack.h* && $headers != *$'\n'* ]]
}

# What one dependency on Dovetail costs: files to compile, abseil's among them.
files() {
  local files
  files=$("$bazel" aquery "${flags[@]}" 'mnemonic("CppCompile", deps(//:main))' | grep -c 'Mnemonic: CppCompile')
  at_most "files that a program compiles" "$files" 115
}

# The program without symbols and debug information.
size() {
  "$bazel" build "${flags[@]}" --compilation_mode=opt //:main
  strip -o "$scratch/main" bazel-bin/main
  at_most "bytes of a program" "$(stat -c %s "$scratch/main")" 200000
}

# Seconds of a build of everything with one job. No check.
seconds() {
  "$bazel" --output_base="$scratch/output" build "${flags[@]}" --nobuild //:main # fetches
  local start=$SECONDS
  "$bazel" --output_base="$scratch/output" build "${flags[@]}" --compilation_mode=opt --jobs=1 //:main
  echo "consumer: $((SECONDS - start)) seconds with one job"
  "$bazel" --output_base="$scratch/output" shutdown
  chmod -R u+w "$scratch/output"
}

# Copies, casts and their kernels besides.
copy() { run //:copy "$@"; }

# Other flags (.bazelrc).
bare() { run --config=bare //:main && copy --config=bare; }
asan() { run --config=asan //:main && copy --config=asan; }
libcxx() { run --config=libcxx //:main && copy --config=libcxx; }
aarch64() { run --config=aarch64 //:main && copy --config=aarch64; }

# The user's own abseil instead of Dovetail's: that of Debian 13. (By modules, it is the registry's.)
abseil() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/dovetail/abseil-trixie
  if [[ ! -e $folder/WORKSPACE ]]; then
    mkdir -p "$folder"
    tar -C "$folder" --strip-components=1 -xf \
      "$("$repository/third_party/debian/fetch.sh" source abseil trixie "$scratch/debian")"
  fi
  copy --override_repository=com_google_absl="$folder"
}

quick=(main door doors benchmark conformance kernels shared dlpack files)
slow=(size named copy bare asan libcxx aarch64 abseil)

ways=()
for argument in "$@"; do
  case $argument in
    -*) flags+=("$argument") ;;
    all) ways+=("${quick[@]}" "${slow[@]}") ;;
    *) ways+=("$argument") ;;
  esac
done
((${#ways[@]})) || ways=("${quick[@]}")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=()
for way in "${ways[@]}"; do
  echo "=== consumer: $way"
  # (A function's commands fail it only in a shell of its own.)
  (set -e && "$way") &
  wait $! || failed+=("$way")
done
echo "consumer: ${#ways[@]} ways, ${#failed[@]} failed: ${failed[*]:-none}"
((${#failed[@]} == 0))
