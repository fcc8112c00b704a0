// Registers the checks of a library as tests of GoogleTest.

#ifndef DLPACK_CONFORMANCE_REGISTER_H_
#define DLPACK_CONFORMANCE_REGISTER_H_

#include <memory>
#include <string>
#include <vector>

#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

// A fault that the library is known to have. Its tests are skipped with the reason, as long as they
// find it, and fail when it is gone. A name that no test has is a failure, too.
struct KnownFault {
  std::string test;  // a name such as "consumer.strides/versioned/reversed", or its first parts
  std::string reason;
};

// A static initialiser or main() calls it before RUN_ALL_TESTS(). Returns the number of tests. They
// are named `name/DLPackConformance.rule/case`, with _ for the - of the rule.
int RegisterDLPackConformance(const char* name, const std::shared_ptr<const AnyLibrary>& library,
                              const std::vector<KnownFault>& known_faults, const char* file,
                              int line);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_REGISTER_H_
