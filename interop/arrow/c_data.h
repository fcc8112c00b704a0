// The structs of Arrow's C Data, C Device Data and C Stream interfaces. They are a stable ABI:
// every library declares them itself, with these names, members and include guards.
//
//   ArrowArray array;  …  if (array.release != NULL) array.release(&array);
//
// A struct whose `release` is NULL has been released or moved from; its other members must not be
// read. To move a struct, copy its bytes and set the source's `release` to NULL. The members are
// defined in arrow.apache.org/docs/format: CDataInterface.html, CDeviceDataInterface.html and
// CStreamInterface.html.

#ifndef DOVETAIL_INTEROP_ARROW_C_DATA_H_
#define DOVETAIL_INTEROP_ARROW_C_DATA_H_

#include <stdint.h>

extern "C" {

// The specification prescribes these guards, so that one program can include the declarations of
// several libraries.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

// Bits of ArrowSchema::flags.
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;  // format_table.h
  const char* name;
  const char* metadata;  // pairs of keys and values (fixed_shape.h)
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;      // in elements, like `offset`
  int64_t null_count;  // -1: not counted
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // numbers have two: validity bits (or NULL) and values; lists the first
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_DEVICE_DATA_INTERFACE
#define ARROW_C_DEVICE_DATA_INTERFACE

typedef int32_t ArrowDeviceType;  // device_table.h

struct ArrowDeviceArray {
  ArrowArray array;
  int64_t device_id;  // -1 for device types without an index
  ArrowDeviceType device_type;
  void* sync_event;  // address of the vendor's event to wait for; NULL: the data are ready
  int64_t reserved[3];
};

#endif  // ARROW_C_DEVICE_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  // Both return 0 or an errno. After the last array, get_next hands out one without `release`.
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);  // valid until the next call; NULL: none
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"

#endif  // DOVETAIL_INTEROP_ARROW_C_DATA_H_
