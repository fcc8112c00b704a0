// try and catch for code that also builds without exceptions (-fno-exceptions). Nothing throws
// then, and the handlers are omitted.
//
//   DOVETAIL_TRY {
//     list.push_back(item);
//   } DOVETAIL_CATCH(const std::bad_alloc&) {   // the exception has no name: handlers can't use it
//     is_complete = false;
//   }

#ifndef DOVETAIL_CORE_INTERNAL_EXCEPTIONS_H_
#define DOVETAIL_CORE_INTERNAL_EXCEPTIONS_H_

#include "absl/base/config.h"

#ifdef ABSL_HAVE_EXCEPTIONS
#define DOVETAIL_TRY try
#define DOVETAIL_CATCH(type) catch (type)
#else
#define DOVETAIL_TRY if (true)
#define DOVETAIL_CATCH(type) else if (false)
#endif

#endif  // DOVETAIL_CORE_INTERNAL_EXCEPTIONS_H_
