// The structs of Arrow's C Data Interface and C Device Data Interface: a stable ABI that libraries
// declare themselves, with these names, members and guards.
//
//   ArrowArray array;  …  if (array.release != NULL) array.release(&array);
//
// A struct whose `release` is NULL is released or moved away, and nothing of it may be read. Moving
// one is copying its bytes and setting the source's `release` to NULL. What the members mean stands
// in arrow.apache.org/docs/format/CDataInterface.html and CDeviceDataInterface.html.

#ifndef DOVETAIL_INTEROP_ARROW_C_DATA_H_
#define DOVETAIL_INTEROP_ARROW_C_DATA_H_

#include <stdint.h>

extern "C" {

// The guards are part of the specification, so that the declarations of several libraries can stand
// in one program.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
  const char* format;  // format_table.h
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;      // in elements, as is `offset`
  int64_t null_count;  // -1: not counted
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // of primitive types: validity bits (or NULL), values
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
  int64_t device_id;  // -1 where there is nothing to tell apart
  ArrowDeviceType device_type;
  void* sync_event;  // the address of an event of the device's vendor, or NULL: nothing to wait for
  int64_t reserved[3];
};

#endif  // ARROW_C_DEVICE_DATA_INTERFACE

}  // extern "C"

#endif  // DOVETAIL_INTEROP_ARROW_C_DATA_H_
