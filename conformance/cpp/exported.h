// What checks of producers share: arrays that the library makes, and their exports.

#ifndef DLPACK_CONFORMANCE_EXPORTED_H_
#define DLPACK_CONFORMANCE_EXPORTED_H_

#include "dlpack_conformance/check.h"
#include "dlpack_conformance/elements.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

// The request for an array of these elements, without a view. It points into `elements`.
ArraySpec SpecOf(const Elements& elements);
// The request for a view of elements, which it points into; by default of Base().
ArraySpec SpecOf(const Elements& base, const Layout& layout);
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

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_EXPORTED_H_
