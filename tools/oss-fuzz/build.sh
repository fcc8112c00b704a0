#!/bin/bash -eu
# Builds the fuzz targets with the flags of OSS-Fuzz and puts into $OUT what it runs: each target with its corpus, its
# dictionary and its options. OSS-Fuzz sets CC, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SANITIZER, SRC and OUT;
# tools/oss-fuzz/try sets them as OSS-Fuzz does.
cd "$SRC/dovetail"

options=(
  --config=oss_fuzz
  "--repo_env=CC=$CC"
  "--action_env=CC=$CC"
  "--linkopt=$LIB_FUZZING_ENGINE"
)
for flag in $CFLAGS; do options+=("--conlyopt=$flag"); done
for flag in $CXXFLAGS; do options+=("--cxxopt=$flag" "--linkopt=$flag"); done
# Bazel names the C++ library itself, because it links with the C compiler.
if [[ $CXXFLAGS == *-stdlib=libc++* ]]; then options+=(--repo_env=BAZEL_LINKLIBS=-lc++:-lm); fi

targets=()
for source in tests/fuzz/*_fuzz.cc; do targets+=("$(basename "$source" .cc)"); done
./bazelw build "${options[@]}" "${targets[@]/#///tests/fuzz:}"

for target in "${targets[@]}"; do
  cp -fL "bazel-bin/tests/fuzz/$target" "$OUT/"
  cp -f "tests/fuzz/corpus/$target.zip" "$OUT/${target}_seed_corpus.zip"
  printf '[libfuzzer]\nmax_len = 400\n' >"$OUT/$target.options"
  dictionary=tests/fuzz/dictionaries/$target.dict
  if [[ -e $dictionary ]]; then cp "$dictionary" "$OUT/"; fi
done

# For reports of coverage, the sources at the paths that the compiler saw.
if [[ ${SANITIZER:-} == coverage ]]; then
  mkdir -p "$OUT/proc/self/cwd"
  cp -r core devices interop tests "$OUT/proc/self/cwd/"
fi
