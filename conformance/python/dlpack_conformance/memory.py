"""How the lines of a script reach the memory of arrays: expressions, for the CPU and for CUDA.

The functions load() and put() of lines for CUDA are in cuda.py.
"""


class Host:
    start = "ctypes.addressof(data)"  # the address of the elements that allocate() makes
    contents = "data[:]"
    copied = "type(data).from_buffer_copy(data)"

    def value(self, ctype, address):
        return f"ctypes.{ctype}.from_address({address}).value"

    def bytes(self, count, address):
        return f"ctypes.string_at({address}, {count})"

    def allocate(self, ctype, count, elements, offset=0):
        """data = elements in memory of its own, `offset` bytes behind a multiple of 4096."""
        if offset:
            return (
                "memory = mmap.mmap(-1, 4096); data = (ctypes.c_char * 4096).from_buffer(memory); "
                f"data[{offset}:] = bytes((ctypes.{ctype} * {count})(*{elements}))"
                f".ljust({4096 - offset})"
            )
        return (
            f"memory = mmap.mmap(-1, 4096); data = (ctypes.{ctype} * {count}).from_buffer(memory); "
            f"data[:] = {elements}"
        )

    def overwrite(self, count, value):
        return f"data[:] = [{value}] * {count}"


class Cuda:
    start = "data"
    contents = "load(ctypes.c_float * 12, data)[:]"
    copied = "put(load(ctypes.c_char * 192, data))"  # the largest of lend_view()

    def value(self, ctype, address):
        return f"load(ctypes.{ctype}, {address}).value"

    def bytes(self, count, address):
        return f"bytes(load(ctypes.c_char * {count}, {address}))"

    def allocate(self, ctype, count, elements, offset=0):
        return f"data = put((ctypes.{ctype} * {count})(*{elements}), offset={offset})"

    def overwrite(self, count, value):
        return f"put((ctypes.c_float * {count})(*[{value}] * {count}), data)"


MEMORIES = {"cpu": Host(), "cuda": Cuda()}
