// What the type object of dovetail.Tensor is made of (tensor_type.cc): its slots and tables.
//
// All need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_SLOTS_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_SLOTS_H_

#include <Python.h>

namespace dovetail::python {

// tp_methods (tensor_methods.cc; methods.h says what they do) and tp_getset (attributes.cc).
extern PyMethodDef tensor_methods[];
extern PyGetSetDef tensor_attributes[];

// index.cc. Basic indexing: t[1], t[1:, ::-2], t[..., None], and writes through it.
//
//   PyObject* row = TensorGetItem(tensor, key);           // a view: shares the memory
//   int failed = TensorSetItem(tensor, key, value);       // -1 with an error set
//
// Keys are ints (objects with __index__), slices of any step, Ellipsis, None, and tuples of these,
// with NumPy's meaning. Bools, lists and arrays are no basic indices and raise TypeError. Indexing
// with as many ints as dimensions gives a 0-D tensor. Views inherit requires_grad and read-only.
// The assigned value is a number, nested lists, or any object that can be exchanged (assign.h); it
// is broadcast.

// mp_subscript. IndexError out of range, TypeError for keys of other kinds.
PyObject* TensorGetItem(PyObject* self, PyObject* key);

// mp_ass_subscript. ValueError for a read-only tensor, another type, or shapes that do not go
// together; TypeError for a deletion (value nullptr).
int TensorSetItem(PyObject* self, PyObject* key, PyObject* value);

// mp_length, sq_length: the size of the first dimension. TypeError for a 0-D tensor.
Py_ssize_t TensorLength(PyObject* self);

// sq_item: what iteration calls. IndexError at the end, TypeError for a 0-D tensor.
PyObject* TensorItem(PyObject* self, Py_ssize_t index);

// protocol_methods.cc. The buffer protocol: memoryview(t), bytes(t), numpy.asarray(t).
//
//   memoryview(dt.arange(6).reshape(2, 3))[1, 2]          # 5

// bf_getbuffer and bf_releasebuffer. -1 with an error set: what buffer.h
// raises, and ExchangeError for a tensor that requires gradients and, in no_copies(), for consumers
// of which some copy.
int GetTensorBuffer(PyObject* self, Py_buffer* view, int flags);
void ReleaseTensorBuffer(PyObject* self, Py_buffer* view);

// A pickle.PickleBuffer of the tensor, which shares its memory, in no_copies() as well.
PyObject* NewPickleBuffer(PyObject* module, PyObject* self);

// attributes.cc. A tensor as text: repr(t), str(t) and format(t, spec).

// The values, with the type, device and other marks (core/format_values.h).
PyObject* TensorRepr(PyObject* self);

// __format__: formats the number of a one-element tensor, so f"{loss:.3f}" works. Without a spec it
// is the repr. TypeError for a spec and several numbers.
PyObject* TensorFormat(PyObject* self, PyObject* spec);

// In operators.cc. t == x and the other comparisons of a tensor.
//
//   t[1] == 1          # one element compares as its number
//   t == other         # TypeError for several elements: Dovetail has no elementwise comparison

// tp_richcompare. A tensor of one element compares with numbers and other tensors of one element;
// Python's numbers are first rounded to a tensor's floating-point type, as NumPy and PyTorch do.
// For other objects the result is NotImplemented, so Python calls their own comparison. TypeError
// for numbers, sequences, tensors and arrays without one; objects of other kinds are unequal.
PyObject* TensorCompare(PyObject* self, PyObject* other, int op);

// In operators.cc. Operators that dovetail.Tensor does not have: a TypeError that says who has
// them.
//
// An operand of another library decides itself: tensor + ndarray is what NumPy makes of it.

// Fills the slots of arithmetic operators. The others stay as they are.
void RefuseArithmetic(PyNumberMethods* as_number);

// In attributes.cc. Methods that other libraries' tensors have and dovetail.Tensor does not,
// such as sum(): an AttributeError that says who has them.
//
// Each is a property that raises, so that hasattr(t, "sum") is False and lookups of other names,
// found or not, cost what they cost without them. dir(t) and dir(dovetail.Tensor) leave the
// names out.

// Puts the properties into the dictionary of the type, which must be ready: the garbage collector
// finds it through them. False with an error set.
bool AddMissingMethods(PyTypeObject* type);

// Gives `type`, before it is ready, a class of its own, whose __dir__ leaves the names out. False
// with an error set.
bool SetTensorClass(PyTypeObject* type);

// __dir__ of the type's objects.
PyObject* TensorDir(PyObject* self, PyObject* unused);

// In exchange_table.cc. DLPack's C exchange API with dovetail.Tensor as producer: the table behind
// `dovetail.Tensor.__dlpack_c_exchange_api__`, which consumers cache by type and call without
// Python's attribute and capsule machinery. Source: dlpack.h 1.3, DLPackExchangeAPI.
//
//   AddExchangeApi(dict_of_the_type);
//
// The table lives as long as the process. Its functions need the GIL, have the results of
// __dlpack__ and from_dlpack, return -1 with a Python error set, and let no C++ exception out. None
// orders streams: the consumer calls current_work_stream.

// Puts the capsule into the dictionary of a type. False with an error set.
bool AddExchangeApi(PyObject* type_dict);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_SLOTS_H_
