// What Storage, allocators and backends say of a block of memory: its kind, how a stream uses it,
// and how it is given back.
//
//   Storage::Allocate(1024, Device::Cuda(0), MemoryKind::kPinnedHost);
//   storage->RecordUse(stream, UseKind::kOrder);
//   Storage::Adopt(data, nbytes, Device::Cpu(), {&FreeIt, context});

#ifndef DOVETAIL_CORE_MEMORY_H_
#define DOVETAIL_CORE_MEMORY_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class MemoryKind {
  kDevice,      // the device's own memory; on the CPU, ordinary memory
  kPinnedHost,  // host memory that the device reads directly
  kManaged,     // memory that migrates between host and device
  kShared,      // the device's own memory that other processes can open (interop/ipc)
};

enum class UseKind {
  kWork,   // the stream reads or writes the memory
  kOrder,  // the stream waited for the memory, and no work on it was enqueued
};

// A function that is called once, on whichever thread drops the last reference to borrowed memory.
// If it is null, there is nothing to release.
struct Release {
  void (*function)(void* context) = nullptr;
  void* context = nullptr;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_MEMORY_H_
