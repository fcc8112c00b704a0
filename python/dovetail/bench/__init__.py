"""`python -m dovetail bench`: this machine beside the published figures, in half a minute.

It measures exchanges of small tensors and copies of strided ones, beside the libraries that are
installed, with the programs of //benchmarks. The build copies these files here (python/BUILD):
exchange_rows.py, machine.py, measure.py and strided_layouts.py, and published.json, which it reads
from the pages in docs/benchmarks.
"""
