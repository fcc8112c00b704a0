// How one way of importing an object ended.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_RESULT_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_RESULT_H_

#include <Python.h>

namespace dovetail::python {

enum class ExchangeResult {
  kDone,      // the tensor was imported
  kNotTaken,  // another way has to be tried; no error is set
  kError,     // an error is set
};

inline ExchangeResult ResultOf(bool done) {
  return done ? ExchangeResult::kDone : ExchangeResult::kError;
}

// For a way that did not succeed: kError if an error is set (an interrupt), else kNotTaken.
inline ExchangeResult NotTaken() {
  return PyErr_Occurred() == nullptr ? ExchangeResult::kNotTaken : ExchangeResult::kError;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_EXCHANGE_RESULT_H_
