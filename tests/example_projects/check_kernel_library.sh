#!/usr/bin/env bash
# Checks that a kernel library exports its description and its kernels for tvm-ffi, and links no more
# than the C and C++ libraries:
# tests/example_projects/check_kernel_library.sh kernels.so
set -euo pipefail

exported=$(nm --dynamic --defined-only --format=just-symbols "$1" | grep -v '^__tvm_ffi_')
linked=$(ldd "$1" | awk '{ print $1 }' |
  grep -Ev '^(linux-vdso|libstdc\+\+|libgcc_s|libc|libm)\.so\.[0-9]+$|/ld-linux' || true)
echo "$1 exports: ${exported:-nothing}"
echo "$1 links, besides the C and C++ libraries: ${linked:-nothing}"
[[ $exported == DovetailKernelLibraryOf && -z $linked ]]
