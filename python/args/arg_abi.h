// The inline namespace of the headers that extensions compile into themselves. It is part of every
// symbol: two extensions of different versions in one process share none, nor do files of one
// program with and without Python. (dovetail/kernels.h defines DOVETAIL_WITHOUT_PYTHON.)

#ifndef DOVETAIL_PYTHON_ARGS_ARG_ABI_H_
#define DOVETAIL_PYTHON_ARGS_ARG_ABI_H_

#ifdef DOVETAIL_WITHOUT_PYTHON
// (Hidden: the loader would share constants of one name among kernel libraries.)
#define DOVETAIL_ARG_ABI kernels_v1 __attribute__((visibility("hidden")))
#else
#define DOVETAIL_ARG_ABI arg_v1
#endif

#endif  // DOVETAIL_PYTHON_ARGS_ARG_ABI_H_
