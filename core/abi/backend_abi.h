// A device backend as a plain C struct: how one from another shared object or wheel, built by
// another compiler against another version of Dovetail or without it, serves devices here.
//
//   static const DovetailBackend backend = {DOVETAIL_BACKEND_HEADER, .name = &MyName, ...};
//   PyCapsule_New((void*)&backend, DOVETAIL_BACKEND_CAPSULE, NULL);
//   // and in Python: dovetail.register_backend(capsule)
//
// What each function does is what the function of the same name does in core/device_backend.h; this
// header says what differs. In C++, core/abi/export.h makes the struct from a DeviceBackend, and
// core/abi/import.h a DeviceBackend from the struct.
//
// Errors: functions that can fail return 0, or an absl::StatusCode as a number, after at most one
// call of message->set with a text in UTF-8 that is copied. Outputs are written on success alone.
// Ownership: `self` lives until `release`. A DovetailShared that is passed in is borrowed for the
// call, who keeps it calls retain; one that is passed out belongs to who receives it, who calls
// release once. Arrays that are passed in are borrowed for the call.
// Threads: any function, on any thread, at the same time. Nothing may throw.
// Versions: `major` must be equal. Later minor versions add functions at the end; struct_size tells
// how many there are. Pointers marked "may be NULL" may be; so may all beyond struct_size.

#ifndef DOVETAIL_CORE_ABI_BACKEND_ABI_H_
#define DOVETAIL_CORE_ABI_BACKEND_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DOVETAIL_BACKEND_ABI_MAJOR 1
#define DOVETAIL_BACKEND_ABI_MINOR 1
#define DOVETAIL_BACKEND_CAPSULE "dovetail_backend"
#define DOVETAIL_BACKEND_HEADER \
  sizeof(struct DovetailBackend), DOVETAIL_BACKEND_ABI_MAJOR, DOVETAIL_BACKEND_ABI_MINOR

typedef struct DovetailMessage {
  void* context;
  void (*set)(void* context, const char* text);
} DovetailMessage;

/* A counted object of the other side's: the owner of a stream, an event. A null object: none. */
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
  DovetailShared state; /* what it is, is its backend's own affair */
} DovetailEvent;

typedef struct DovetailTensorView {
  void* data;
  int64_t byte_offset;
  DovetailDevice device;
  uint8_t type_code; /* DLPack's */
  uint8_t bits;
  uint16_t lanes;
  int32_t read_only;
  int32_t padded; /* elements smaller than a byte have one each */
  int32_t rank;
  const int64_t* shape;   /* elements */
  const int64_t* strides; /* elements */
} DovetailTensorView;

/* The uses of a block of memory (core/uses.h). */
typedef struct DovetailUses {
  const DovetailStream* streams;
  const int32_t* stream_works; /* for each stream: 1 it was given work, 0 it only waited */
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

/* What share_memory answers. */
#define DOVETAIL_MOST_NAME_BYTES 256
typedef struct DovetailMemoryShare {
  unsigned char name[DOVETAIL_MOST_NAME_BYTES];
  size_t name_bytes;
  int64_t offset;
  int32_t has_until;
  DovetailEvent until; /* passed out */
} DovetailMemoryShare;

/* What open_memory answers. `release` is called once with `context`, which is not NULL. */
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

/* Memory kinds: 0 the device's own, 1 pinned host memory, 2 managed memory, 3 of the device's own
   what other processes can open. */

typedef struct DovetailBackend {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  void* self;
  void (*release)(void* self); /* may be NULL */

  const char* (*name)(void* self);
  /* How many types; the array lives as long as the backend. */
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
  /* `code` may be NULL: Python's None. *has_stream is 0 for no synchronisation. */
  int32_t (*decode_stream)(void* self, DovetailDevice device, const int64_t* code,
                           int32_t* has_stream, DovetailStream* stream, DovetailMessage* message);
  /* *is_none is 1 for Python's None. */
  int32_t (*encode_stream)(void* self, const DovetailStream* stream, int32_t* is_none,
                           int64_t* code, DovetailMessage* message);

  int32_t (*record)(void* self, const DovetailStream* stream, DovetailEvent* event,
                    DovetailMessage* message);
  int32_t (*wait)(void* self, const DovetailStream* stream, const DovetailEvent* event,
                  DovetailMessage* message);
  /* `current`: the calling thread's stream on the consumer's device. */
  int32_t (*order_before)(void* self, const DovetailUses* uses, const DovetailStream* consumer,
                          const DovetailStream* current, DovetailMessage* message);
  int32_t (*wait_foreign)(void* self, const DovetailStream* stream, const void* event,
                          DovetailMessage* message);
  int32_t (*query)(void* self, const DovetailEvent* event, int32_t* happened,
                   DovetailMessage* message);
  int32_t (*host_wait)(void* self, const DovetailEvent* event, DovetailMessage* message);
  int32_t (*synchronize)(void* self, const DovetailStream* stream, DovetailMessage* message);
  /* Calls `function` once, later or now. Must not block. */
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
} DovetailBackend;

#ifdef __cplusplus
}
#endif

#endif /* DOVETAIL_CORE_ABI_BACKEND_ABI_H_ */
