#!/usr/bin/env bash
# Below C++20 the compiler names the flag for each build system, and nothing else: the #error, and the stop right after it.
set -u
header=$1
said=$("${CXX:-g++}" -std=c++17 -fsyntax-only -x c++ "$header" 2>&1) && echo "C++17 was accepted" && exit 1
errors=$(grep -c 'error:' <<<"$said")
if [[ $errors != 2 || $said != *" -std=c++20 (Bazel: --cxxopt"*"CMake: cxx_std_20"* || $said != *"fatal error:"* ]]; then
  echo "expected the #error and one fatal error, not:"
  echo "$said"
  exit 1
fi
