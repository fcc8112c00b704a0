// A tensor that the suite lends to a library, and what the library does with it.
//
//   LentFields fields;
//   fields.byte_offset = 16;
//   Lent lent(c, Kind::kVersioned, fields);
//   ArrayPtr y = Take(c, lent);                 // the import
//   …
//   c.Expect(lent.deleted() == 1, "…");
//
// The struct, shape and strides lie in memory of their own, and so do the elements. Both are
// forbidden once the deleter was called, so that a later access is observed.

#ifndef DLPACK_CONFORMANCE_LENT_H_
#define DLPACK_CONFORMANCE_LENT_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dlpack_conformance/check.h"
#include "dlpack_conformance/elements.h"
#include "dlpack_conformance/library.h"
#include "dlpack_conformance/pages.h"

namespace dlpack_conformance {

// The fields of a tensor; by default those of Base() in row-major order.
struct LentFields {
  Elements memory = Base();  // what lies in memory, from the byte `at` on
  size_t at = 0;
  size_t data_at = 0;  // the byte to which data points
  bool null_data = false;
  std::vector<int64_t> shape{3, 4};
  std::vector<int64_t> strides{4, 1};
  bool null_shape = false;
  bool null_strides = false;
  std::optional<int32_t> ndim;  // if empty, the number of sizes in the shape
  DLDataType dtype = kFloat32;
  DLDevice device = {kDLCPU, 0};
  uint64_t byte_offset = 0;
  DLPackVersion version = {1, 3};
  uint64_t flags = 0;
  bool null_context = false;
  bool null_deleter = false;
};

class Lent {
 public:
  Lent(Check& check, Kind kind, const LentFields& fields);
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  Managed managed() const { return managed_; }
  Pages& memory() { return memory_; }
  // How often the deleter was called.
  int deleted() const { return deleted_; }
  // Lends the same tensor once more, after a refusal.
  void LendAgain();
  // Waits until it was called, at most for two seconds: a library may do it on another thread.
  int DeletedSoon() const;

 private:
  template <typename T>
  static void Delete(T* managed);

  Pages memory_;
  Pages struct_;
  Managed managed_;
  std::atomic<int> deleted_{0};
};

// Imports the tensor. A library that refuses it is told that the rule does not apply, keeps the
// rule, or breaks it.
ArrayPtr TakeIfPossible(Check& c, const Lent& lent);
ArrayPtr TakeOrKeep(Check& c, const Lent& lent);
ArrayPtr MustTake(Check& c, const Lent& lent);
// Breaks the rule if the library takes the tensor in.
void MustRefuse(Check& c, const Lent& lent, std::string_view what);

// Reads the array's elements as the library sees them, and expects these.
void ExpectElements(Check& c, AnyArray& y, const Elements& expected);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_LENT_H_
