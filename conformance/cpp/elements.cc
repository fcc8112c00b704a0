#include "dlpack_conformance/elements.h"

#include <cstdio>
#include <cstring>
#include <numeric>
#include <sstream>

#include "dlpack_conformance/describe.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

bool IsFloat32(DLDataType dtype) {
  return dtype.code == kDLFloat && dtype.bits == 32 && dtype.lanes == 1;
}

size_t SizeOf(DLDataType dtype) { return size_t{dtype.bits} * dtype.lanes / 8; }

// (An offset, not an address: without elements the data may be NULL.)
void GatherFrom(int64_t offset, size_t d, const Seen& seen, const std::vector<int64_t>& strides,
                std::vector<unsigned char>* bytes) {
  const size_t size = SizeOf(seen.dtype);
  if (d == seen.shape.size()) {
    const auto* at = static_cast<const unsigned char*>(seen.data) + offset;
    bytes->insert(bytes->end(), at, at + size);
    return;
  }
  for (int64_t i = 0; i < seen.shape[d]; ++i) {
    GatherFrom(offset + i * strides[d] * static_cast<int64_t>(size), d + 1, seen, strides, bytes);
  }
}

}  // namespace

bool Elements::operator==(const Elements& other) const {
  return dtype.code == other.dtype.code && dtype.bits == other.dtype.bits &&
         dtype.lanes == other.dtype.lanes && shape == other.shape && bytes == other.bytes;
}

Elements Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  Elements made;
  made.shape = std::move(shape);
  made.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

Elements Numbered(const DType& dtype) {
  if (IsFloat32(dtype.dl())) return Base();
  Elements made;
  made.dtype = dtype.dl();
  made.shape = {3, 4};
  const size_t size = SizeOf(made.dtype);
  made.bytes.resize(12 * size);
  constexpr uint8_t kBool = 6;
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t bits = dtype.code == kBool ? i % 2 : dtype.one + i;
    std::memcpy(&made.bytes[i * size], &bits, size < sizeof bits ? size : sizeof bits);
  }
  return made;
}

Elements Base() {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  return Floats({3, 4}, values);
}

std::vector<int64_t> RowMajor(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

Elements Gather(const Seen& seen) {
  Elements read;
  read.dtype = seen.dtype;
  read.shape = seen.shape;
  const bool row_major = seen.strides.size() != seen.shape.size();
  GatherFrom(0, 0, seen, row_major ? RowMajor(seen.shape) : seen.strides, &read.bytes);
  return read;
}

Seen SeenIn(const DLTensor& t) {
  Seen seen;
  seen.dtype = t.dtype;
  seen.data = static_cast<const char*>(t.data) + t.byte_offset;
  if (t.ndim > 0) {
    seen.shape.assign(t.shape, t.shape + t.ndim);
    if (t.strides != nullptr) seen.strides.assign(t.strides, t.strides + t.ndim);
  }
  return seen;
}

std::string ToText(const Elements& elements) {
  constexpr size_t kMost = 12;
  std::ostringstream os;
  os << NameOf(elements.dtype) << ' ' << elements.shape << ':';
  const size_t size = SizeOf(elements.dtype);
  const size_t count = size == 0 ? 0 : elements.bytes.size() / size;
  for (size_t i = 0; i < count && i < kMost; ++i) {
    os << ' ';
    if (IsFloat32(elements.dtype)) {
      float value;
      std::memcpy(&value, &elements.bytes[i * size], sizeof value);
      os << value;
      continue;
    }
    for (size_t byte = 0; byte < size; ++byte) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x", elements.bytes[i * size + byte]);
      os << digits;
    }
  }
  if (count > kMost) os << " …";
  return os.str();
}

const std::vector<Layout>& Layouts() {
  static const auto* const layouts = new std::vector<Layout>{
#include "dlpack_conformance/layouts.inc"
  };
  return *layouts;
}

Elements ViewOf(const Elements& base, const Layout& layout) {
  const unsigned char* first =
      base.bytes.data() + layout.offset * static_cast<int64_t>(SizeOf(base.dtype));
  return Gather({base.dtype, first, layout.shape, layout.strides});
}

}  // namespace dlpack_conformance
