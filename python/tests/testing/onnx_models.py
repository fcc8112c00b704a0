"""Models of ONNX, for tests that have ONNX Runtime and not onnx."""

# float32 "x" of two dimensions, and "y" = Add(x, x): a ModelProto, one field a line.
DOUBLE_MODEL = (
    b"\x08\x08"  # ir_version
    b":F"  # graph
    b'\n\x0e\n\x01x\n\x01x\x12\x01y"\x03Add'  # node
    b"\x12\x06double"  # name
    b"Z\x15\n\x01x\x12\x10\n\x0e\x08\x01\x12\n\n\x03\x12\x01m\n\x03\x12\x01n"  # input
    b"b\x15\n\x01y\x12\x10\n\x0e\x08\x01\x12\n\n\x03\x12\x01m\n\x03\x12\x01n"  # output
    b"B\x04\n\x00\x10\r"  # opset_import
)
