// HostKernel: a kernel of a program, as code for the host. The emulator's RuntimeApi::launch takes
// a pointer to one in place of a function of a module, and runs it in the order of the stream.
//
//   const HostKernel kernel = {parameters, 2, function, &Run};
//   api.launch(api.self, const_cast<HostKernel*>(&kernel), grid, block, 0, stream, arguments);
//
// The launch copies the struct and the arguments. The array of parameters stays where it is.

#ifndef DOVETAIL_TESTS_EMULATOR_HOST_KERNEL_H_
#define DOVETAIL_TESTS_EMULATOR_HOST_KERNEL_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

struct HostParameter {
  size_t nbytes;
  // A pointer to memory of the device, or nullptr. The kernel gets the address at which the host
  // reaches that memory. Pointers inside a struct are not translated.
  bool is_address;
};

struct HostKernel {
  const HostParameter* parameters;
  int num_parameters;
  void (*function)();
  // Runs `function` for each thread of the grid. `arguments` points to one pointer per parameter.
  void (*run)(void (*function)(), const uint32_t grid[3], const uint32_t block[3],
              void** arguments);
};

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_HOST_KERNEL_H_
