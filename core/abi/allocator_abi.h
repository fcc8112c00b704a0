// A program's own memory as a plain C struct: what core/memory_source.h is in C++. An allocator in
// another shared object or wheel passes it to Dovetail, whatever compiler built it.
//
//   static const DovetailAllocator allocator = {DOVETAIL_ALLOCATOR_HEADER, .allocate = &Allocate,
//                                               .deallocate = &Deallocate};
//   PyCapsule_New((void*)&allocator, DOVETAIL_ALLOCATOR_CAPSULE, NULL);
//   // and in Python: dovetail.set_allocator("cuda:0", capsule)
//
// In C++, ImportMemorySource (core/abi/memory_source.h) makes a MemorySource from the struct.
//
// Errors, versions and passed streams are as core/abi/backend_abi.h says. Ownership: the struct is
// read during the call that it is passed to; `context` lives until `release`. Threads: any function
// may be called on any thread, concurrently, and with no lock of Dovetail's held. On a GPU the
// device is current on that thread. Nothing may throw. `deallocate` must not block.

#ifndef DOVETAIL_CORE_ABI_ALLOCATOR_ABI_H_
#define DOVETAIL_CORE_ABI_ALLOCATOR_ABI_H_

#include "dovetail/core/abi/backend_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DOVETAIL_ALLOCATOR_ABI_MAJOR 1
#define DOVETAIL_ALLOCATOR_ABI_MINOR 0
#define DOVETAIL_ALLOCATOR_CAPSULE "dovetail_allocator"
#define DOVETAIL_ALLOCATOR_HEADER \
  sizeof(struct DovetailAllocator), DOVETAIL_ALLOCATOR_ABI_MAJOR, DOVETAIL_ALLOCATOR_ABI_MINOR

typedef struct DovetailAllocator {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  void* context;
  /* Called once, when the allocator is no longer set and all of its memory is back; may be NULL. */
  void (*release)(void* context);

  /* At least nbytes > 0 bytes, aligned to 256, on stream->device. Work on the stream may use them
   * at once. The error 8 (RESOURCE_EXHAUSTED), or success with NULL: not enough memory; Dovetail
   * then returns its own unused memory and calls once more. */
  int32_t (*allocate)(void* context, size_t nbytes, const DovetailStream* stream, void** data,
                      DovetailMessage* message);
  /* The stream is that of `allocate` if that one is lasting, else the device's default stream. Work
   * on it may be pending only if it is that of `allocate`; all other work is done. */
  void (*deallocate)(void* context, void* data, size_t nbytes, const DovetailStream* stream);
} DovetailAllocator;

#ifdef __cplusplus
}
#endif

#endif /* DOVETAIL_CORE_ABI_ALLOCATOR_ABI_H_ */
