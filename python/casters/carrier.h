// What a caster of any binding library does with one kind of argument: a tensor, a tensor that is
// made, a list or a dict of tensors, or None.
//
//   Carrier<Arg<const float>> carrier;                     // in a caster, which has a CallFrame
//   int result = carrier.Load(object, call, frame);        // 0, or as Dovetail_Borrow()
//   function(carrier.Lend(like, frame));                   // for the call

#ifndef DOVETAIL_PYTHON_CASTERS_CARRIER_H_
#define DOVETAIL_PYTHON_CASTERS_CARRIER_H_

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/python/arg.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/args/size_arg.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/casters/call_frame.h"
#include "dovetail/python/casters/signature.h"
#include "dovetail/python/owned_tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// Of NoOverlap.
template <typename V>
void CheckOverlap(const CallFrame& frame, const Loans& loans) {
  const int32_t other = frame.FindOverlap(loans);
  if (other == 0) return;
  const HeldGil gil;
  PyErr_Format(PyExc_ValueError,
               "argument %d has memory in common with argument %d, and must not. Pass a copy.",
               static_cast<int>(loans.position), static_cast<int>(other));
  ThrowSetError<V>();
}

// What a Kernel returns: the tensors that it wrote, or nullptr with an error set.
template <typename... Values>
PyObject* TakeResults(const Results<Values...>& results, PyObject* like) {
  constexpr size_t kCount = sizeof...(Values);
  // (The tensors are those of the call's carriers, which are not const.)
  if (kCount == 1) return Dovetail_Result(const_cast<DovetailBorrowed*>(results.all[0]), like);
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(kCount));
  if (tuple == nullptr) return nullptr;
  for (size_t i = 0; i < kCount; ++i) {
    PyObject* const result = Dovetail_Result(const_cast<DovetailBorrowed*>(results.all[i]), like);
    if (result == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), result);
  }
  return tuple;
}

template <typename V>
class Carrier;

// Whether Carrier<V>::Lend() asks for what results are made like.
template <typename V>
constexpr bool kMakesResult = false;
template <typename T, typename... Rules>
constexpr bool kMakesResult<Given<Out<T, Rules...>>> = true;

// One tensor.
template <typename V>
class TensorCarrier {
 public:
  using Facts = typename V::Facts;

  TensorCarrier() { borrowed_.held = nullptr; }
  ~TensorCarrier() { Release(); }
  TensorCarrier(const TensorCarrier&) = delete;
  TensorCarrier& operator=(const TensorCarrier&) = delete;
  void Release() { Dovetail_Release(&borrowed_); }

  [[gnu::always_inline]] int Load(PyObject* object, DovetailCall* call, CallFrame& frame) {
    const int result = Dovetail_Borrow(object, &Facts::kRequirements, call, &borrowed_);
    if (result == 0) frame.Link(&borrowed_, 1, &loans_);
    return result;
  }
  V Lend(PyObject*, CallFrame& frame) {
    if constexpr (Facts::kNoOverlap) CheckOverlap<V>(frame, loans_);
    return V(borrowed_);
  }

  // What a result can be made like.
  static PyObject* FirstOf(PyObject* object) { return object; }
  static constexpr Text kText = Signature<Facts>::kText;

 protected:
  DovetailBorrowed borrowed_;
  Loans loans_;
};

template <typename T, typename... Rules>
class Carrier<Arg<T, Rules...>> : public TensorCarrier<Arg<T, Rules...>> {};
template <typename T, typename... Rules>
class Carrier<Given<InOut<T, Rules...>>> : public TensorCarrier<Given<InOut<T, Rules...>>> {};

// A tensor, or None for one that is made for the call.
template <typename T, typename... Rules>
class Carrier<Given<Out<T, Rules...>>> : public TensorCarrier<Given<Out<T, Rules...>>> {
  using Value = Given<Out<T, Rules...>>;
  using Base = TensorCarrier<Value>;

 public:
  int Load(PyObject* object, DovetailCall* call, CallFrame& frame) {
    is_made_ = object == Py_None;
    if (!is_made_) return Base::Load(object, call, frame);
    frame.CountArgument();
    return 0;
  }
  Value Lend(PyObject* like, CallFrame& frame) {
    if (!is_made_) return Base::Lend(like, frame);
    const HeldGil gil;
    if (Dovetail_Make(&Base::Facts::kRequirements, frame.call(), like, &this->borrowed_) != 0) {
      ThrowSetError<T>();
    }
    return Value(this->borrowed_);
  }

  static PyObject* FirstOf(PyObject* object) { return object == Py_None ? nullptr : object; }
  static constexpr Text kText = Base::kText + " | None";

 private:
  bool is_made_ = false;
};

// Several tensors, whose objects are kept.
template <typename A>
class ListCarrier {
 public:
  ListCarrier() = default;
  ~ListCarrier() { Release(); }
  ListCarrier(const ListCarrier&) = delete;
  ListCarrier& operator=(const ListCarrier&) = delete;
  void Release() {
    while (count_ > 0) Dovetail_Release(&borrowed_[--count_]);
    Py_CLEAR(objects_);
  }
  PyObject* FirstOf(PyObject*) const {
    return count_ > 0 ? PyTuple_GET_ITEM(objects_, 0) : nullptr;
  }

 protected:
  using Facts = typename A::Facts;

  // `objects` is a tuple or nullptr with an error set; steals it.
  int Load(PyObject* objects, DovetailCall* call, CallFrame& frame) {
    objects_ = objects;
    if (objects == nullptr) return -1;
    const Py_ssize_t size = PyTuple_GET_SIZE(objects);
    borrowed_.reset(new DovetailBorrowed[static_cast<size_t>(size)]);  // not initialised
    if (size == 0) ++call->position;
    int result = 0;
    while (count_ < size) {
      if (count_ > 0) --call->position;
      call->element = static_cast<int32_t>(count_ + 1);
      result = Dovetail_Borrow(PyTuple_GET_ITEM(objects, count_), &Facts::kRequirements, call,
                               &borrowed_[static_cast<size_t>(count_)]);
      if (result != 0) break;
      ++count_;
    }
    call->element = 0;
    if (result == 0) frame.Link(borrowed_.get(), count_, &loans_);
    return result;
  }
  void Check(const CallFrame& frame) const {
    if constexpr (Facts::kNoOverlap) CheckOverlap<A>(frame, loans_);
  }
  // How a call ends that got no list or dict.
  static int Refuse(PyObject* object, const char* wanted, DovetailCall* call) {
    ++call->position;
    if (call->is_quiet != 0) return 1;
    PyErr_Format(PyExc_TypeError, "argument %d must be a %s, and is a %.200s",
                 static_cast<int>(call->position), wanted, Py_TYPE(object)->tp_name);
    return -1;
  }

  PyObject* objects_ = nullptr;
  std::unique_ptr<DovetailBorrowed[]> borrowed_;
  Py_ssize_t count_ = 0;
  Loans loans_;
};

template <typename T, typename... Rules>
class Carrier<std::vector<Arg<T, Rules...>>> : public ListCarrier<Arg<T, Rules...>> {
  using Argument = Arg<T, Rules...>;
  using Base = ListCarrier<Argument>;

 public:
  int Load(PyObject* object, DovetailCall* call, CallFrame& frame) {
    if (!PyList_Check(object) && !PyTuple_Check(object)) {
      return Base::Refuse(object, "list or tuple of tensors", call);
    }
    return Base::Load(PySequence_Tuple(object), call, frame);
  }
  std::vector<Argument> Lend(PyObject*, CallFrame& frame) {
    Base::Check(frame);
    std::vector<Argument> all;
    all.reserve(static_cast<size_t>(this->count_));
    for (Py_ssize_t i = 0; i < this->count_; ++i) {
      all.emplace_back(this->borrowed_[static_cast<size_t>(i)]);
    }
    return all;
  }

  static constexpr Text kText =
      Text("collections.abc.Sequence[") + Signature<typename Argument::Facts>::kText + "]";
};

template <typename T, typename... Rules>
class Carrier<std::map<std::string, Arg<T, Rules...>>> : public ListCarrier<Arg<T, Rules...>> {
  using Argument = Arg<T, Rules...>;
  using Base = ListCarrier<Argument>;

 public:
  int Load(PyObject* object, DovetailCall* call, CallFrame& frame) {
    if (!PyDict_Check(object)) return Base::Refuse(object, "dict of tensors", call);
    // (One snapshot: what loading calls may change the dict.)
    PyObject* const items = PyDict_Items(object);
    const Py_ssize_t size = items != nullptr ? PyList_GET_SIZE(items) : 0;
    PyObject* values = items != nullptr ? PyTuple_New(size) : nullptr;
    bool has_names = true;
    for (Py_ssize_t i = 0; values != nullptr && has_names && i < size; ++i) {
      PyObject* const item = PyList_GET_ITEM(items, i);
      Py_INCREF(PyTuple_GET_ITEM(item, 1));
      PyTuple_SET_ITEM(values, i, PyTuple_GET_ITEM(item, 1));
      has_names = AddName(PyTuple_GET_ITEM(item, 0));
    }
    Py_XDECREF(items);
    if (has_names) return Base::Load(values, call, frame);
    Py_XDECREF(values);
    return Base::Refuse(object, "dict of tensors with keys of str", call);
  }
  std::map<std::string, Argument> Lend(PyObject*, CallFrame& frame) {
    Base::Check(frame);
    std::map<std::string, Argument> all;
    for (size_t i = 0; i < names_.size(); ++i) all.emplace(names_[i], this->borrowed_[i]);
    return all;
  }

  static constexpr Text kText =
      Text("dict[str, ") + Signature<typename Argument::Facts>::kText + "]";

 private:
  bool AddName(PyObject* key) {
    Py_ssize_t length;
    const char* const text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, &length) : nullptr;
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    names_.emplace_back(text, static_cast<size_t>(length));
    return true;
  }

  std::vector<std::string> names_;
};

#if __cplusplus >= 202002L
template <Size kName>
class Carrier<SizeArg<kName>> {
 public:
  void Release() {}

  int Load(PyObject* object, DovetailCall* call, CallFrame&) {
    const Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      if (!call->is_quiet || !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
      PyErr_Clear();
      return 1;
    }
    value_ = value;
    return Note(call) ? 0 : Refuse(call);
  }
  SizeArg<kName> Lend(PyObject*, CallFrame&) const { return SizeArg<kName>(value_); }

  static PyObject* FirstOf(PyObject*) { return nullptr; }
  static constexpr Text kText = Text("int");

 private:
  // Adds the size to those of the call. False if it is no size, or another one.
  bool Note(DovetailCall* call) const {
    if (value_ < 0) return false;
    for (int32_t i = 0; i < call->num_sizes; ++i) {
      if (call->sizes[i].name == kName.value) return call->sizes[i].size == value_;
    }
    if (call->num_sizes == DOVETAIL_MAX_NAMED_SIZES) return false;
    call->sizes[call->num_sizes++] = {kName.value, value_, 0};
    return true;
  }
  int Refuse(const DovetailCall* call) const {
    if (call->is_quiet) return 1;
    Text name;
    name.PutSize(kName.value, LongName<kName>::kText.letters);
    PyErr_Format(PyExc_ValueError,
                 value_ < 0 ? "%s = %lld is no size: it must not be negative"
                            : "%s = %lld does not go with the sizes of the tensors",
                 name.letters, static_cast<long long>(value_));
    return -1;
  }

  int64_t value_ = 0;
};
#endif

template <typename V>
class NotBound {
  static_assert(std::is_void_v<V>,
                "A function with an Out or an InOut is bound as dovetail::Kernel(function), which "
                "returns them.");
};
template <typename T, typename... Rules>
class Carrier<Out<T, Rules...>> : NotBound<Out<T, Rules...>> {};
template <typename T, typename... Rules>
class Carrier<InOut<T, Rules...>> : NotBound<InOut<T, Rules...>> {};

template <typename V>
class Carrier<std::optional<V>> : public Carrier<V> {
 public:
  int Load(PyObject* object, DovetailCall* call, CallFrame& frame) {
    is_there_ = object != Py_None;
    if (is_there_) return Carrier<V>::Load(object, call, frame);
    frame.CountArgument();
    return 0;
  }
  std::optional<V> Lend(PyObject* like, CallFrame& frame) {
    if (!is_there_) return std::nullopt;
    return Carrier<V>::Lend(like, frame);
  }

  PyObject* FirstOf(PyObject* object) const {
    return is_there_ ? Carrier<V>::FirstOf(object) : nullptr;
  }
  static constexpr Text kText = Carrier<V>::kText + " | None";

 private:
  bool is_there_ = false;
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_CASTERS_CARRIER_H_
