// UniqueDLPack: sole ownership of a DLPack managed tensor.
//
//   UniqueDLPack out = *ToDLPack(tensor);
//   Consume(out.release());                  // the consumer calls the deleter
//
// The destructor calls the deleter, unless it is NULL, which DLPack allows.

#ifndef DOVETAIL_INTEROP_DLPACK_MANAGED_H_
#define DOVETAIL_INTEROP_DLPACK_MANAGED_H_

#include <memory>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct DLPackDeleter {
  template <typename Managed>
  void operator()(Managed* managed) const noexcept {
    if (managed->deleter != nullptr) managed->deleter(managed);
  }
};

using UniqueDLPack = std::unique_ptr<DLManagedTensorVersioned, DLPackDeleter>;
using UniqueDLPackLegacy = std::unique_ptr<DLManagedTensor, DLPackDeleter>;

namespace internal_dlpack {

// A Storage::Release function that calls the producer's deleter.
template <typename Managed>
void CallDeleter(void* managed) {
  DLPackDeleter()(static_cast<Managed*>(managed));
}

}  // namespace internal_dlpack

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_MANAGED_H_
