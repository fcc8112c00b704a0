#!/usr/bin/env bash
# Installs Dovetail into a directory, moves the directory, and builds programs from it with CMake and pkg-config:
#
#   tests/install/run.sh [Bazel flags]
#   tests/install/run.sh abseil [Bazel flags]   # with an abseil of the program's own, too, which is built for it
#
# Fails if a header does not compile alone, a static library lacks a symbol, or a program fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export DOVETAIL_INSTALL=all # pkg-config

own_abseil=false
if [[ ${1:-} == abseil ]]; then
  own_abseil=true
  shift
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A folder with CMake's programs, of the version in the lock file of the Python environment. (Not in PATH, which Bazel's
# actions get: they would run again.)
programs_of_cmake() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/dovetail/environments/cmake
  awk '/^[^ #]/ { is_cmake = /^cmake==/ } is_cmake' third_party/python/requirements.lock >"$scratch/cmake.lock"
  if ! cmp --silent "$scratch/cmake.lock" "$folder/cmake.lock"; then
    rm -rf "$folder"
    "${DOVETAIL_PYTHON:-python3}" -m venv "$folder"
    "$folder/bin/python" -m pip --quiet --no-input --disable-pip-version-check install --only-binary=:all: --no-deps \
      --require-hashes --requirement "$scratch/cmake.lock" >&2
    cp "$scratch/cmake.lock" "$folder/"
  fi
  echo "$folder/bin"
}

# Bazel's folder of another repository that it has fetched.
repository() { echo "$(./bazelw info output_base 2>/dev/null)/external/$1"; }

# Each header of the installation, alone. Those that include a library which is not here are counted.
header_alone() {
  local header=$1 missing
  if ! g++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -x c++ "${flags[@]}" "$header" 2>"$2.err"; then
    missing=$(sed -n 's/.*fatal error: \(.*\): No such file or directory/\1/p' "$2.err")
    if [[ -z $missing || $missing =~ ^(dovetail|absl|dlpack)/ ]]; then
      echo "install: ${header#"$prefix/include/"} does not compile alone:" >&2
      cat "$2.err" >&2
      return 1
    fi
    echo "${header#"$prefix/include/"} needs $missing"
  fi
}

headers_alone() {
  local header count=0 running=0 status=0
  read -ra flags < <(pkg-config --cflags dovetail)
  flags+=(-isystem "$eigen/usr/include/eigen3")
  while read -r header; do
    count=$((count + 1))
    if ((running == $(nproc))); then
      wait -n || status=1
      running=$((running - 1))
    fi
    header_alone "$header" "$scratch/$count" >"$scratch/$count.needs" &
    running=$((running + 1))
  done < <(find "$prefix/include" -name '*.h')
  while ((running)); do
    wait -n || status=1
    running=$((running - 1))
  done
  cat "$scratch"/*.needs | sed 's/^/install: /'
  echo "install: $((count - $(cat "$scratch"/*.needs | wc -l))) headers compile alone"
  return "$status"
}

# A program with all objects of a component, which lacks no symbol.
all_symbols() {
  local file package archive flags
  echo 'int main() {}' >"$scratch/empty.cc"
  for file in "$prefix"/lib/pkgconfig/*.pc; do
    package=$(basename "$file" .pc)
    archive=$prefix/lib/lib${package//-/_}.a
    [[ -e $archive ]] || continue
    read -ra flags < <(pkg-config --libs "$package")
    g++ "$scratch/empty.cc" -o "$scratch/empty" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "${flags[@]}"
    if readelf --sections --wide "$archive" | grep '\.gnu\.lto_' >/dev/null; then
      echo "install: $archive has code for link-time optimisation, which one compiler alone can read" >&2
      return 1
    fi
  done
}

# The CMake project with a compiler: programs NAME COMPILER [flags of cmake]
programs() {
  local build=$scratch/build-$1
  "$cmake" -S tests/install -B "$build" -DCMAKE_CXX_COMPILER="$2" -DCMAKE_PREFIX_PATH="$prefix" \
    -DEigen3_DIR="$eigen/usr/share/eigen3/cmake" -DWANTED_VERSION="$version" "${@:3}"
  "$cmake" --build "$build" --parallel
  "$(dirname "$cmake")/ctest" --test-dir "$build" --output-on-failure
}

# What CMake says of a component or a version that is not there.
refused() {
  ! programs refused g++ "$@" >"$scratch/refused" 2>&1
  grep -m 1 -E "Could not find a configuration|Dovetail was compiled with" "$scratch/refused"
}

# With abseil's own CMake package, of the sources that the build has.
with_own_abseil() {
  local abseil=$scratch/abseil package
  "$cmake" -S "$(repository com_google_absl)" -B "$scratch/build-abseil" -DCMAKE_CXX_STANDARD=20 -DCMAKE_BUILD_TYPE=Release \
    -DABSL_PROPAGATE_CXX_STD=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DCMAKE_INSTALL_PREFIX="$abseil" &>"$scratch/abseil.log"
  "$cmake" --build "$scratch/build-abseil" --parallel --target install &>>"$scratch/abseil.log"
  package=$(dirname "$(find "$abseil" -name abslConfig.cmake)")
  programs own_abseil g++ -DDOVETAIL_FIND_ABSEIL=ON -Dabsl_DIR="$package"
  sed -i 's/\(ABSL_OPTION_USE_STD_STRING_VIEW\) ./\1 0/' "$abseil/include/absl/base/options.h"
  rm -rf "$scratch/build-refused"
  refused -DDOVETAIL_FIND_ABSEIL=ON -Dabsl_DIR="$package"
}

cmake=$(programs_of_cmake)/cmake
./bazelw run "$@" //:install -- "$scratch/first/prefix"
prefix=$scratch/moved
mv "$scratch/first/prefix" "$prefix"
if grep -rI "$scratch/first" "$prefix"; then
  echo "install: these files name the directory that was installed to" >&2
  exit 1
fi
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
version=$(pkg-config --modversion dovetail)

type -P clang++-14 >/dev/null || ./bazelw info "$@" --config=clang >/dev/null # installs it
./bazelw build "$@" @eigen//:eigen
eigen=$(repository eigen)/root

headers_alone
all_symbols
programs gcc g++
programs clang clang++-14
refused -DWANTED_VERSION=99.0

read -ra flags < <(pkg-config --cflags --libs dovetail-register-all)
g++ -std=c++20 tests/install/all_backends.cc -o "$scratch/all_backends" "${flags[@]}"
"$scratch/all_backends"

if "$own_abseil"; then with_own_abseil; fi
echo "install: programs of g++, clang and pkg-config work"
