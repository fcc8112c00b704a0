// The table of private reads (private_reads.inc): what Dovetail reads of other libraries though
// they do not publish it. The table is complete. Each row has a check against the library's own
// answer.
//
//   PyObject* rows = PrivateReads();
//
// docs/architecture.md has the table (`./bazelw run //docs/site:private_reads`), and
// python/tests/exchange/private_reads_test.py names the row that a new version breaks.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_PRIVATE_READS_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_PRIVATE_READS_H_

#include <Python.h>

namespace dovetail::python {

// A new list with a tuple of str for each row, in the order of the table:
//
//   library, what, where, published, check
//
// `where` is a path in the repository. `check` is a Python expression with the library under its
// name and numpy; "" where the compiler checks. nullptr with an error set. Needs the GIL.
PyObject* PrivateReads();

// A new dict: for each row that C++ checks, its `check`, and whether it holds. Imports PyTorch.
// nullptr with an error set. Needs the GIL.
PyObject* CheckPrivateReads();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_PRIVATE_READS_H_
