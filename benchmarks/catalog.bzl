"""The list of benchmarks."""

# Each benchmark, and the file that opens with the question that it answers, in the order of `--all`.
BENCHMARKS = {
    ":allocate": "allocate.cc",
    ":allocate_peers": "allocate_peers.py",
    ":arguments": "arguments.py",
    ":carriage": "//benchmarks/carriage:carriage.py",
    ":cast": "cast.cc",
    ":cast_peers": "cast_peers.py",
    ":cpp_doors": "//benchmarks/doors:BUILD",
    ":exchange": "exchange.cc",
    ":exchange_instructions": "exchange_instructions.py",
    ":exchange_peers": "exchange_peers.py",
    ":exchange_threads": "exchange_threads.cc",
    ":gpu": "gpu.cc",
    ":gpu_peers": "gpu_peers.py",
    ":kernels": "kernels.py",
    ":oneapi": "oneapi.py",
    ":permutation_peers": "permutation_peers.py",
    ":random_copy_peers": "random_copy_peers.py",
    ":reshard_peers": "//benchmarks/carriage:reshard_peers.py",
    ":sharing_peers": "sharing_peers.py",
    ":strided_copy": "strided_copy.cc",
    ":strided_copy_peers": "strided_copy_peers.py",
}

# What `--all` leaves out: these take minutes, install other programs, compile, or count instructions.
NOT_IN_ALL = [
    ":carriage",
    ":exchange_instructions",
    ":kernels",
    ":permutation_peers",
    ":reshard_peers",
]
