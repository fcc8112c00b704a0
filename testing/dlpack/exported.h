// What checks of producers share: arrays that the library makes, and their exports.

#ifndef DOVETAIL_TESTING_DLPACK_EXPORTED_H_
#define DOVETAIL_TESTING_DLPACK_EXPORTED_H_

#include "dovetail/testing/dlpack/check.h"
#include "dovetail/testing/dlpack/elements.h"
#include "dovetail/testing/dlpack/library.h"

namespace dovetail::conformance {

// The request for an array of these elements, without a view. It points into `elements`.
ArraySpec SpecOf(const Elements& elements);
// The request for a view of Base().
ArraySpec SpecOf(const Layout& layout);

// A new array. If the library has no such arrays, the rule does not apply.
ArrayPtr Make(Check& c, const ArraySpec& spec);
// A plain array: Base().
ArrayPtr MakePlain(Check& c);

// The export of an array. If it is refused, the rule does not apply.
Managed Export(Check& c, AnyArray& x, Kind kind);
Managed ExportPlain(Check& c, Kind kind);

// The elements that an exported tensor leads to. If they are not in memory of the CPU, the rule
// does not apply.
Elements Read(Check& c, const Managed& managed);

}  // namespace dovetail::conformance

#endif  // DOVETAIL_TESTING_DLPACK_EXPORTED_H_
