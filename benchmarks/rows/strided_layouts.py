"""The strided copies that are measured in Python, by //benchmarks:strided_copy_peers and `python -m
dovetail bench`.

source = view(*LAYOUTS[0][1:])
"""

import math

import numpy as np

# (name, type, shape of the dense source, order of its dimensions in the copy, steps of its slices)
LAYOUTS = [
    ("transpose 4096 x 4096 f32", "f4", (4096, 4096), (1, 0), None),
    ("transpose 8191 x 4097 f32", "f4", (8191, 4097), (1, 0), None),
    ("transpose 512 x 512 f32", "f4", (512, 512), (1, 0), None),
    ("transpose 4096 x 4096 u8", "u1", (4096, 4096), (1, 0), None),
    ("transpose 3000 x 3000 f64", "f8", (3000, 3000), (1, 0), None),
    ("NCHW to NHWC f32 16 x 64 x 128 x 128", "f4", (16, 64, 128, 128), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 3", "u1", (16, 224, 224, 3), (0, 3, 1, 2), None),
    ("NHWC to NCHW f32 16 x 224 x 224 x 3", "f4", (16, 224, 224, 3), (0, 3, 1, 2), None),
    ("bhsd to bshd f16 4 x 32 x 1024 x 64", "f2", (4, 32, 1024, 64), (0, 2, 1, 3), None),
    ("5-D reversal f32 16 x 16 x 32 x 32 x 64", "f4", (16, 16, 32, 32, 64), (4, 3, 2, 1, 0), None),
    ("transpose 64 x 64 f32", "f4", (64, 64), (1, 0), None),
    ("transpose 256 x 256 u8", "u1", (256, 256), (1, 0), None),
    ("transpose 1000 x 1000 u8", "u1", (1000, 1000), (1, 0), None),
    ("transpose 2048 x 2048 f16", "f2", (2048, 2048), (1, 0), None),
    ("transpose 1021 x 2039 f16", "f2", (1021, 2039), (1, 0), None),
    ("transpose 1024 x 1024 c128", "c16", (1024, 1024), (1, 0), None),
    ("transpose 3001 x 3001 f32", "f4", (3001, 3001), (1, 0), None),
    ("NCHW to NHWC u8 16 x 3 x 224 x 224", "u1", (16, 3, 224, 224), (0, 2, 3, 1), None),
    ("NCHW to NHWC f32 16 x 3 x 224 x 224", "f4", (16, 3, 224, 224), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 4", "u1", (16, 224, 224, 4), (0, 3, 1, 2), None),
    ("rotation 101 x 103 x 107 f32", "f4", (101, 103, 107), (2, 0, 1), None),
    ("outer swap, rows of 100 f32", "f4", (200, 300, 100), (1, 0, 2), None),
    ("outer swap, rows of 7 f32", "f4", (300, 400, 7), (1, 0, 2), None),
    ("last reversed f32", "f4", (1000, 1000), (0, 1), (1, -1)),
    ("last reversed u8", "u1", (1000, 1000), (0, 1), (1, -1)),
    ("first reversed f32", "f4", (1000, 1000), (0, 1), (-1, 1)),
    ("every 2nd f32", "f4", (1000, 2000), (0, 1), (1, 2)),
    ("every 3rd u8", "u1", (1000, 3000), (0, 1), (1, 3)),
    ("NCHW to NHWC f32 16 x 100 x 56 x 56", "f4", (16, 100, 56, 56), (0, 2, 3, 1), None),
    ("NCHW to NHWC f16 16 x 67 x 56 x 56", "f2", (16, 67, 56, 56), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 8", "u1", (16, 224, 224, 8), (0, 3, 1, 2), None),
    ("NCHW to NHWC f32 16 x 8 x 224 x 224", "f4", (16, 8, 224, 224), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 32", "u1", (16, 224, 224, 32), (0, 3, 1, 2), None),
    ("BGR to RGB u8 1000 x 1000", "u1", (1000, 1000, 3), (0, 1, 2), (1, 1, -1)),
    ("transpose 1025 x 1000 f32", "f4", (1025, 1000), (1, 0), None),
    ("rotated u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (1, 0, 2), (1, -1, 1)),
    ("rotated f32 224 x 224 x 3", "f4", (224, 224, 3), (1, 0, 2), (1, -1, 1)),
    ("mirrored u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (0, 1, 2), (1, -1, 1)),
    ("mirrored to planes u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (2, 0, 1), (1, -1, 1)),
    ("every 2nd pixel u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (0, 1, 2), (2, 2, 1)),
    ("transpose 8 x 8 f32", "f4", (8, 8), (1, 0), None),
    ("2 x 3 x 4 f32 reversed", "f4", (2, 3, 4), (2, 1, 0), None),
]
TEN = 10  # the first ones, of which geometric means are published


def view(dtype, shape, order, steps):
    array = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    if steps is not None:
        array = array[tuple(slice(None, None, step) for step in steps)]
    return array.transpose(order)
