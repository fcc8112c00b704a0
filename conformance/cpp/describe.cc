#include "dlpack_conformance/describe.h"

#include <cstdio>
#include <cstring>
#include <sstream>

#include "dlpack_conformance/dtypes.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

void WriteDims(std::ostream& os, const char* name, const DLTensor& t, const int64_t* dims) {
  os << ", " << name << ' ';
  if (dims == nullptr) {
    os << "NULL";
  } else if (t.ndim < 0 || t.ndim > 8) {
    os << static_cast<const void*>(dims);
  } else {
    os << std::vector<int64_t>(dims, dims + t.ndim);
  }
}

// `size` bytes at `address`, in words of eight.
void WriteBytes(std::ostream& os, const void* address, size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(address);
  for (size_t i = 0; i < size; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    os << (i % 8 == 0 ? (i == 0 ? "" : " ") : "") << digits;
  }
}

}  // namespace

std::string NameOf(DLDataType dtype) {
  for (const DType& known : kDTypes) {
    if (known.code == dtype.code && known.bits == dtype.bits && dtype.lanes == 1) return known.name;
  }
  return Text("code ", +dtype.code, ", ", +dtype.bits, " bits, ", dtype.lanes,
              dtype.lanes == 1 ? " lane" : " lanes");
}

std::string Describe(const Managed& managed) {
  std::ostringstream os;
  size_t size = sizeof(DLManagedTensor);
  const void* context = nullptr;
  bool has_deleter = false;
  if (const DLManagedTensorVersioned* m = managed.versioned()) {
    size = sizeof *m;
    os << "DLManagedTensorVersioned: version " << m->version.major << '.' << m->version.minor
       << ", flags 0x" << std::hex << m->flags << std::dec << ", ";
    context = m->manager_ctx;
    has_deleter = m->deleter != nullptr;
  } else {
    os << "DLManagedTensor: ";
    context = managed.legacy()->manager_ctx;
    has_deleter = managed.legacy()->deleter != nullptr;
  }
  const DLTensor& t = managed.tensor();
  os << "data " << t.data << ", device (" << static_cast<int>(t.device.device_type) << ", "
     << t.device.device_id << "), ndim " << t.ndim << ", type " << NameOf(t.dtype);
  WriteDims(os, "shape", t, t.shape);
  WriteDims(os, "strides", t, t.strides);
  os << ", byte_offset " << t.byte_offset << ", manager_ctx " << context << ", deleter "
     << (has_deleter ? "set" : "NULL") << "\n            bytes at " << managed.address() << ": ";
  WriteBytes(os, managed.address(), size);
  return os.str();
}

}  // namespace dlpack_conformance
