"""The kernels of library.so, as a module."""

import os

import dovetail as dt

_PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "library.so")
globals().update((f.__name__, f) for f in dt.load_kernels(_PATH, namespace="examples"))
