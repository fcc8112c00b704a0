"""The kit's adapter for planted.py: the environment variable PLANTED has the switches.

Its arrays on a CUDA device are those of planted_cuda.py.
"""

import os

from dlpack_conformance import Adapter

BROKEN = repr(os.environ.get("PLANTED"))
IGNORES = "consumer.read-only-ignored" in BROKEN  # a library without read-only arrays

ADAPTER = Adapter(
    name="planted",
    setup="import planted, planted_exchange; "
    f"p = planted.Library({BROKEN}); planted_exchange.offer(p)",
    version="'1'",
    dtype="{name!r}",
    dtypes="bool int32 float32 float64 uint64",
    array="p.array({values}, {dtype})",
    ones="p.ones({size})",
    arrays={"negated": "p.negated()"},
    read_only=None if IGNORES else "p.read_only({x})",
    read_only_request="read_only=True",
    other_byte_order="p.swapped()",
    unsupported={"unsupported": "planted.planted_export.Unsupported(p)"},
    buffer="{x}.buffer()",
    nulls="p.nulls()",
    take_buffer="p.from_buffer({x})",
    take_interface="p.from_interface({x})",
    take_arrow="p.from_arrow({x})",
    take="p.from_dlpack({x})",
    here="'here'",
    values="{y}.tolist()",
    write="{y}.fill(7)",
    on_stream="p.memory.on_stream({stream})",
    work="p.memory.copy({y})",
    devices={
        "cuda": {
            "setup": "import planted, planted_cuda, planted_exchange; "
            f"p = planted.Library({BROKEN}, planted_cuda.Memory({BROKEN})); "
            "planted_exchange.offer(p)"
        }
    },
)
