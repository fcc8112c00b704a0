"""What does a row of a matrix cost, compared with a row of NumPy's?"""

import measure
import numpy as np
import report

import dovetail as dt


def rows():
    array = np.zeros((16, 16), np.float32)
    tensor = dt.from_dlpack(array)
    functions = {"dovetail": lambda: tensor[3], "numpy": lambda: array[3]}
    return [measure.Row("one row", functions, baseline="numpy")]


def main():
    program = report.Program(report.parser(__doc__).parse_args())
    program.publish("my_views", "Rows of a matrix", "16 x 16.", program.measure(rows()))


if __name__ == "__main__":
    main()
