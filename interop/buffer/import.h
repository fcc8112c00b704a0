// A buffer of Python's buffer protocol as a tensor's layout, without Python's header.
//
//   BufferLayout out;
//   absl::Status s = DescribeBuffer({.data = view.buf, .nbytes = view.len, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// Nothing is owned: the Python side fills the description from its Py_buffer, and adopts the memory
// with a release of its own. Source: docs.python.org/3/c-api/buffer.html. Any thread.

#ifndef DOVETAIL_INTEROP_BUFFER_IMPORT_H_
#define DOVETAIL_INTEROP_BUFFER_IMPORT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/interop/buffer/strided.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The fields of a Py_buffer.
struct BufferDescription {
  void* data = nullptr;  // element 0
  int64_t nbytes = 0;    // of the elements without gaps
  int64_t itemsize = 1;
  const char* format = nullptr;  // NULL: kDefaultFormat
  int ndim = 1;
  const int64_t* shape = nullptr;    // NULL: nbytes / itemsize elements in one dimension
  const int64_t* strides = nullptr;  // bytes; NULL: row-major
  bool has_suboffsets = false;
  bool read_only = false;
};

// InvalidArgument, with what to do, for a format that format.h refuses, suboffsets, strides that
// are no multiple of the itemsize, sizes that contradict each other, and elements without memory.
// `out` is filled on success only.
absl::Status DescribeBuffer(const BufferDescription& buffer, BufferLayout* out);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_IMPORT_H_
