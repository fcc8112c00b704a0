// A device backend as a plain C struct. A backend in another shared object or wheel serves devices
// through it, whatever compiler and version of Dovetail built it, or without Dovetail.
//
//   static const DovetailBackend backend = {DOVETAIL_BACKEND_HEADER, .name = &MyName, ...};
//   PyCapsule_New((void*)&backend, DOVETAIL_BACKEND_CAPSULE, NULL);
//   // and in Python: dovetail.register_backend(capsule)
//
// Each function does what the function of the same name in core/device_backend.h does; this header
// says what differs. In C++, ExportBackend (core/abi/export.h) makes the struct from a
// DeviceBackend, and ImportBackend (core/abi/import.h) makes a DeviceBackend from the struct.
//
// Errors: a function that can fail returns 0 or the number of an absl::StatusCode. Before it
// returns an error it calls message->set at most once, with a text in UTF-8, which is copied.
// Outputs are written only on success. Ownership: `self` lives until `release`. A DovetailShared
// that is passed in is borrowed for the call; call retain() to keep it. One that is passed out
// belongs to the receiver, which calls release() once. Arrays that are passed in are borrowed for
// the call. Threads: any function may be called on any thread, concurrently. Nothing may throw.
// Versions: `major` must be equal. Later minor versions add functions at the end; struct_size says
// how many there are. Only functions marked "may be NULL" may be NULL; functions beyond struct_size
// do not exist.

#ifndef DOVETAIL_CORE_ABI_BACKEND_ABI_H_
#define DOVETAIL_CORE_ABI_BACKEND_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOVETAIL_BACKEND_ABI_MAJOR 1
#define DOVETAIL_BACKEND_ABI_MINOR 3
#define DOVETAIL_BACKEND_CAPSULE "dovetail_backend"
#define DOVETAIL_BACKEND_HEADER \
  sizeof(struct DovetailBackend), DOVETAIL_BACKEND_ABI_MAJOR, DOVETAIL_BACKEND_ABI_MINOR

typedef struct DovetailMessage {
  void* context;
  void (*set)(void* context, const char* text);
} DovetailMessage;

/* A reference-counted object: the owner of a stream, an event. `object` is NULL if there is none.
 */
typedef struct DovetailShared {
  void* object;
  void (*retain)(void* object);
  void (*release)(void* object);
} DovetailShared;

typedef struct DovetailDevice {
  int32_t type; /* DLPack's device codes */
  int32_t index;
} DovetailDevice;

typedef struct DovetailStream {
  DovetailDevice device;
  uintptr_t handle; /* the vendor's; 0: the default stream */
  DovetailShared owner;
} DovetailStream;

typedef struct DovetailEvent {
  DovetailDevice device;
  DovetailShared state; /* opaque to all but the backend */
} DovetailEvent;

typedef struct DovetailTensorView {
  void* data;
  int64_t byte_offset;
  DovetailDevice device;
  uint8_t type_code; /* DLPack's */
  uint8_t bits;
  uint16_t lanes;
  int32_t read_only;
  int32_t padded; /* each sub-byte element has a byte of its own */
  int32_t rank;
  const int64_t* shape;   /* elements */
  const int64_t* strides; /* elements */
} DovetailTensorView;

/* The uses of a block of memory (core/uses.h), those of this backend's devices alone: the caller
 * waits for the work of others. */
typedef struct DovetailUses {
  const DovetailStream* streams;
  const int32_t* stream_works; /* per stream: 1 if it has work on the memory, 0 if it only waited */
  size_t stream_count;
  const DovetailEvent* events;
  size_t event_count;
  int32_t unknown;
} DovetailUses;

typedef struct DovetailPointerAttributes {
  DovetailDevice device;
  int32_t kind;
  void* base;
  size_t nbytes;
} DovetailPointerAttributes;

/* The result of share_memory. */
#define DOVETAIL_MOST_NAME_BYTES 256
typedef struct DovetailMemoryShare {
  unsigned char name[DOVETAIL_MOST_NAME_BYTES];
  size_t name_bytes;
  int64_t offset;
  int32_t has_until;
  DovetailEvent until; /* passed out */
} DovetailMemoryShare;

/* The result of open_memory. The receiver calls release(context) once; `context` is not NULL. */
typedef struct DovetailOpenedMemory {
  void* data;
  size_t nbytes;
  DovetailDevice device;
  int32_t has_ready;
  DovetailEvent ready; /* passed out */
  void (*release)(void* context);
  void* context;
} DovetailOpenedMemory;

typedef struct DovetailAllocatorStats {
  int64_t allocated_bytes;
  int64_t peak_bytes;
  int64_t reserved_bytes;
  int64_t allocations;
  int64_t retries;
} DovetailAllocatorStats;

/* The numbers start, start + step, …: of int64, or of double. */
typedef struct DovetailProgression {
  int32_t is_integer;
  int64_t start;
  int64_t step;
  double real_start;
  double real_step;
} DovetailProgression;

/* Memory kinds: 0 device memory, 1 pinned host memory, 2 managed memory, 3 device memory that other
   processes can open. */

struct DovetailAllocator;

typedef struct DovetailBackend {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  void* self;
  void (*release)(void* self); /* may be NULL */

  const char* (*name)(void* self);
  /* Returns the number of types. The array lives as long as the backend. */
  size_t (*device_types)(void* self, const int32_t** types);
  int32_t (*device_count)(void* self, int32_t* count, DovetailMessage* message);

  /* An allocator is an opaque pointer that lives as long as the backend. */
  int32_t (*get_allocator)(void* self, DovetailDevice device, int32_t kind, void** allocator,
                           DovetailMessage* message);
  int32_t (*allocate)(void* allocator, size_t nbytes, const DovetailStream* stream, void** data,
                      DovetailMessage* message);
  /* `uses` may be NULL. Must not block. */
  void (*deallocate)(void* allocator, void* data, size_t nbytes, const DovetailUses* uses);
  int32_t (*trim)(void* allocator, size_t keep, DovetailMessage* message);
  void (*stats)(void* allocator, DovetailAllocatorStats* stats);
  /* Calls `take` with each name. */
  void (*allocator_names)(void* self, DovetailDevice device, int32_t kind, void* context,
                          void (*take)(void* context, const char* name));
  int32_t (*select_allocator)(void* self, DovetailDevice device, int32_t kind, const char* name,
                              DovetailMessage* message);
  DovetailDevice (*memory_device)(void* self, DovetailDevice device, int32_t kind);

  int32_t (*create_stream)(void* self, DovetailDevice device, DovetailStream* stream,
                           DovetailMessage* message);
  /* `code` is NULL for Python's None. *has_stream is 0 if the code asks for no synchronisation, and
   * 2 if the consumer's stream is unknown: the host then waits for the work. */
  int32_t (*decode_stream)(void* self, DovetailDevice device, const int64_t* code,
                           int32_t* has_stream, DovetailStream* stream, DovetailMessage* message);
  /* *is_none is 1 for Python's None. */
  int32_t (*encode_stream)(void* self, const DovetailStream* stream, int32_t* is_none,
                           int64_t* code, DovetailMessage* message);

  int32_t (*record)(void* self, const DovetailStream* stream, DovetailEvent* event,
                    DovetailMessage* message);
  int32_t (*wait)(void* self, const DovetailStream* stream, const DovetailEvent* event,
                  DovetailMessage* message);
  /* `current` is the calling thread's current stream on the consumer's device. */
  int32_t (*order_before)(void* self, const DovetailUses* uses, const DovetailStream* consumer,
                          const DovetailStream* current, DovetailMessage* message);
  int32_t (*wait_foreign)(void* self, const DovetailStream* stream, const void* event,
                          DovetailMessage* message);
  int32_t (*query)(void* self, const DovetailEvent* event, int32_t* happened,
                   DovetailMessage* message);
  int32_t (*host_wait)(void* self, const DovetailEvent* event, DovetailMessage* message);
  int32_t (*synchronize)(void* self, const DovetailStream* stream, DovetailMessage* message);
  /* Calls `function` once the work in `uses` is done, in this call or later. */
  void (*release_after)(void* self, const DovetailUses* uses, void (*function)(void* context),
                        void* context);

  int32_t (*copy)(void* self, const DovetailTensorView* dst, const DovetailTensorView* src,
                  const DovetailStream* stream, DovetailMessage* message);
  int32_t (*pointer_attributes)(void* self, const void* data, DovetailPointerAttributes* attributes,
                                DovetailMessage* message);

  /* Since minor version 1; both may be NULL. `uses` may be NULL. */
  int32_t (*share_memory)(void* self, DovetailDevice device, void* data, size_t nbytes,
                          const DovetailUses* uses, const DovetailStream* stream,
                          DovetailMemoryShare* share, DovetailMessage* message);
  int32_t (*open_memory)(void* self, int32_t device_type, const void* name, size_t name_bytes,
                         DovetailOpenedMemory* opened, DovetailMessage* message);

  /* Since minor version 2; may be NULL. */
  int32_t (*fill)(void* self, const DovetailTensorView* dst, const void* element,
                  const DovetailStream* stream, DovetailMessage* message);

  /* Since minor version 3; both may be NULL. */
  int32_t (*cast_copy)(void* self, const DovetailTensorView* dst, const DovetailTensorView* src,
                       const DovetailStream* stream, DovetailMessage* message);
  int32_t (*arange)(void* self, const DovetailTensorView* dst, const DovetailProgression* numbers,
                    const DovetailStream* stream, DovetailMessage* message);

  /* Since minor version 3; may be NULL: memory then goes back through release_after. An allocator
   * over `source` (core/abi/allocator_abi.h), which is copied and outlives the allocator. */
  int32_t (*make_allocator)(void* self, DovetailDevice device, int32_t kind,
                            const struct DovetailAllocator* source, void** allocator,
                            DovetailMessage* message);
} DovetailBackend;

#ifdef __cplusplus
}
#endif

#endif /* DOVETAIL_CORE_ABI_BACKEND_ABI_H_ */
