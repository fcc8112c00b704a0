// FillWithNoise: pseudo-random bytes, cheap enough for every input of a fuzz target.
//
//   FillWithNoise(/*seed=*/7, /*small=*/false, memory, size);     // equal seeds write equal bytes

#ifndef DOVETAIL_TESTS_FUZZ_NOISE_H_
#define DOVETAIL_TESTS_FUZZ_NOISE_H_

#include <cstdint>

namespace dovetail::fuzz {

// `small`: bytes from 0 to 2.
void FillWithNoise(uint32_t seed, bool small, char* memory, int64_t size);

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_NOISE_H_
