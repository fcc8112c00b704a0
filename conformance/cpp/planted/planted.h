// For tests of the suite: a small library of arrays that keeps every rule, or breaks just one.
//
//   planted::fault = "producer.flags";            // what it breaks from now on; "": nothing
//   Adapted<planted::Library> library;
//
// A fault is the id of a rule, or the id and a way to break it: "consumer.deletes twice".

#ifndef DLPACK_CONFORMANCE_PLANTED_PLANTED_H_
#define DLPACK_CONFORMANCE_PLANTED_PLANTED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dlpack/dlpack.h"
#include "dlpack_conformance/array.h"

namespace dlpack_conformance::planted {

inline std::string fault;
inline bool Breaks(std::string_view rule) { return fault == rule; }

// Calls the deleter of the last tensor that was taken in.
inline std::function<void()> delete_now;

struct Array {
  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) = default;
  // The first of two handles to die may delete the memory.
  ~Array() {
    if (Breaks("consumer.deletes early") && owner.use_count() == 2 && delete_now) delete_now();
  }

  std::shared_ptr<void> owner;  // of the memory
  unsigned char* first = nullptr;
  DLDataType dtype = {};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  bool read_only = false;
};

struct Library {
  using Array = planted::Array;

  static std::optional<Array> Make(const ArraySpec& spec);
  static DLManagedTensorVersioned* Export(const Array& x);
  static DLManagedTensor* ExportLegacy(const Array& x);
  static DLManagedTensorVersioned* ExportCopy(const Array& x);
  static std::optional<Array> Import(DLManagedTensorVersioned* managed);
  static std::optional<Array> ImportLegacy(DLManagedTensor* managed);
  static Seen Look(const Array& y) { return {y.dtype, y.first, y.shape, y.strides}; }
  static bool Write(const Array& y);
};

}  // namespace dlpack_conformance::planted

#endif  // DLPACK_CONFORMANCE_PLANTED_PLANTED_H_
