"""Calls an example extension with the tensors of every library: check.py FOLDER MODULE"""

import importlib
import sys

import numpy as np
import peers


def refusal(function, *arguments):
    try:
        function(*arguments)
    except (BufferError, TypeError, ValueError) as e:
        return str(e)
    raise AssertionError("the call was not refused")


def main():
    folder, name = sys.argv[1:]
    sys.path.insert(0, folder)
    kernels = importlib.import_module(name)

    for peer in (*peers.EXPORTERS, peers.DOVETAIL):
        x, y = peer.make("float32", [3, 4, 12]), peer.make("float32", [10, 20, 40])
        result = kernels.normalize(x)
        assert type(result) is type(x), (type(result), type(x))
        assert np.allclose(peer.values(result), [3 / 13, 4 / 13, 12 / 13])
        for writer in (*peers.WRITERS, peers.DOVETAIL):
            out = writer.make("float32", [0, 0, 0])
            pointer = writer.pointer(out)
            kernels.add(x, y, out)
            assert writer.values(out) == [13, 24, 52]
            assert writer.pointer(out) == pointer
        assert "argument 2" in refusal(kernels.add, x, peer.make("float32", [1]), x)
        assert "must be float32" in refusal(kernels.normalize, peer.make("int32", [1]))
    print(f"{name}: taken and returned: {', '.join(map(repr, peers.EXPORTERS))}, dovetail")


main()
