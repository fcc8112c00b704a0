// Dovetail's suite on this backend: what every backend must do.

#include "dovetail/testing/backend_conformance.h"

#include "backend.h"

namespace {

constexpr char kOneStream[] = "all work is done when a call returns, on one stream without a code";
constexpr char kHandles[] = "the device's memory is reached by handles, not by pointers";
constexpr char kWholeBytes[] = "the device copies elements of whole bytes";

DOVETAIL_BACKEND_CONFORMANCE(Vendor, &vendor::MakeVendorBackend,
                             {{"StreamsAreDistinctAndLast", kOneStream},
                              {"AStreamsCodeLeadsBackToIt", kOneStream},
                              {"PointersOfItsMemoryAreKnown", kHandles},
                              {"SubByteElementsThatShareBytesArriveWhole", kWholeBytes}});

}  // namespace
