// Checks the fields of a Py_buffer and turns them into a BufferLayout. Needs no Python header.
//
//   BufferLayout out;
//   absl::Status s = DescribeBuffer({.data = view.buf, .nbytes = view.len, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// Owns nothing: the Python side fills in the description from its Py_buffer and adopts the memory
// with its own release. Source: docs.python.org/3/c-api/buffer.html. Any thread.

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
  int64_t nbytes = 0;    // number of elements times itemsize, without gaps
  int64_t itemsize = 1;
  const char* format = nullptr;  // NULL: kDefaultFormat
  int ndim = 1;
  const int64_t* shape = nullptr;    // NULL: nbytes / itemsize elements in one dimension
  const int64_t* strides = nullptr;  // in bytes; NULL: row-major
  bool has_suboffsets = false;
  bool read_only = false;
};

// Fills `out` on success only. InvalidArgument, with a remedy, for a format that format.h refuses,
// suboffsets, strides that are not multiples of the itemsize, sizes that contradict each other, and
// elements without memory.
absl::Status DescribeBuffer(const BufferDescription& buffer, BufferLayout* out);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_IMPORT_H_
