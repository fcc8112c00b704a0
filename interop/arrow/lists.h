// Puts the elements of an exported Arrow array into lists of a fixed size.
//
//   WrapInLists(1000, &array);                   // 3000 elements: 1000 lists of 3
//   WrapInLists(3, /*metadata=*/"", &schema);
//
// The list owns what it wraps, on the heap. A consumer may move a child out and release the list,
// as the specification allows. Source: arrow.apache.org/docs/format/CDataInterface.html. Any
// thread.

#ifndef DOVETAIL_INTEROP_ARROW_LISTS_H_
#define DOVETAIL_INTEROP_ARROW_LISTS_H_

#include <cstdint>
#include <string>

#include "dovetail/core/config.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Overwrites `array`, whose elements become those of `count` lists of one size.
void WrapInLists(int64_t count, ArrowArray* array);

// Overwrites `schema` with that of lists whose elements it describes. An empty `metadata` is none.
void WrapInLists(int64_t size, std::string metadata, ArrowSchema* schema);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_LISTS_H_
