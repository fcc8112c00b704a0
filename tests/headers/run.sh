#!/usr/bin/env bash
# Compiles every public header alone, with the warnings of strict users: tests/headers/run.sh [Bazel flags, such as --config=clang]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The doors include their users' libraries.
doors=(
  arrow_tensor=@dovetail_peers//:arrow
  eigen=@eigen
  mdspan=@cccl
  onnxruntime=@onnxruntime
  opencv=@opencv
  torch=@dovetail_peers//:aten
  tvm_ffi=@dovetail_peers//:tvm_ffi
  xla_ffi=@dovetail_peers//:xla_ffi
)
libraries=()
for door in "${doors[@]}"; do libraries+=("--//interop/${door%%=*}:library=${door#*=}"); done

packages=(//:all //{conformance/cpp,core,devices,interop,python,testing}/...)
public=$(IFS=+ && echo "attr(visibility, //visibility:public, kind(cc_library, ${packages[*]}))")
mapfile -t targets < <(./bazelw query "$public" 2>/dev/null)
# (With -Wpedantic, g++ 12 refuses XLA's headers, though they are system headers.)
./bazelw build "$@" "${libraries[@]}" --per_file_copt=interop/xla_ffi/@-Wno-pedantic \
  --aspects=//tests/headers:strict_headers.bzl%strict_headers --output_groups=strict_headers "${targets[@]}"
echo "headers: those of ${#targets[@]} public libraries compile alone, without a warning"
