"""`python -m dovetail bench`: this machine beside the published figures, in about a minute.

It measures exchanges of small tensors and copies of strided ones, beside the libraries that are
installed, with the programs of //benchmarks. The build copies their files here (python/BUILD), and
reads published.json from the pages in docs/benchmarks.
"""
