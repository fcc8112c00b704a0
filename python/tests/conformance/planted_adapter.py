"""The kit's adapter for planted.py: the environment variable PLANTED names the rule it breaks."""

import os

from dovetail.conformance import Adapter

ADAPTER = Adapter(
    name="planted",
    setup=f"import planted; p = planted.Library({os.environ.get('PLANTED')!r})",
    version="'1'",
    dtype="{name!r}",
    dtypes="bool int32 float32 float64",
    array="p.array({values}, {dtype})",
    ones="p.ones({size})",
    read_only="p.read_only({x})",
    other_byte_order="p.swapped()",
    unsupported={"unsupported": "planted.planted_export.Unsupported(p)"},
    take="p.from_dlpack({x})",
    values="{y}.tolist()",
    write="{y}.fill(7)",
)
