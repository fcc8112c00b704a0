// Require: ends the program if a condition that holds for every input does not.
//
//   Require(tensor.ok(), "a valid struct is taken", tensor.status());
//
// The fuzzer then keeps the input. In any thread.

#ifndef DOVETAIL_TESTS_FUZZ_REQUIRE_H_
#define DOVETAIL_TESTS_FUZZ_REQUIRE_H_

#include <cstdlib>
#include <iostream>

namespace dovetail::fuzz {

// `facts` are printed.
template <typename... Facts>
void Require(bool condition, const char* what, const Facts&... facts) {
  if (condition) [[likely]]
    return;
  std::cerr << "It does not hold that " << what << ".";
  ((std::cerr << "\n  " << facts), ...);
  std::cerr << '\n';
  std::abort();
}

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_REQUIRE_H_
