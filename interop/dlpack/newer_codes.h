// DLPack's codes that are newer than the header: decided upstream, and in no release of dlpack.h
// that this repository builds with (1.3). THE list of them.
//
// header_codes_test.cc fails when dlpack.h has a code that the tables lack, and when it has one of
// these, which then leaves the list. Sources: dmlc/dlpack#187 (kDLBcomplex), #188 (TPU), #189
// (Ascend).

#ifndef DOVETAIL_INTEROP_DLPACK_NEWER_CODES_H_
#define DOVETAIL_INTEROP_DLPACK_NEWER_CODES_H_

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Two of bfloat16, as kDLComplex has two of IEEE's formats.
DOVETAIL_NOT_SHARED inline constexpr auto kDLBcomplex = static_cast<DLDataTypeCode>(18);

// Memory of a TPU, and the host's memory that is pinned for one.
DOVETAIL_NOT_SHARED inline constexpr auto kDLTPU = static_cast<DLDeviceType>(19);
DOVETAIL_NOT_SHARED inline constexpr auto kDLTPUHost = static_cast<DLDeviceType>(20);
// Memory of a Huawei Ascend NPU.
DOVETAIL_NOT_SHARED inline constexpr auto kDLAscend = static_cast<DLDeviceType>(21);

// All of the above.
DOVETAIL_NOT_SHARED inline constexpr DLDataTypeCode kNewerTypeCodes[] = {kDLBcomplex};
DOVETAIL_NOT_SHARED inline constexpr DLDeviceType kNewerDeviceTypes[] = {kDLTPU, kDLTPUHost,
                                                                         kDLAscend};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_NEWER_CODES_H_
