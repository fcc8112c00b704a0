// An ONNX model for tests and examples: float32 "x" of two dimensions, and "y" = Add(x, x).
//
//   Ort::Session session(env, kDoubleModel.data(), kDoubleModel.size(), options);

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_TESTING_DOUBLE_MODEL_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_TESTING_DOUBLE_MODEL_H_

#include <string_view>

namespace dovetail {

// A ModelProto (onnx.proto) of IR version 8 and opset 13, one field a line. A field's tag is
// followed by its length.
// clang-format off
inline constexpr char kDoubleModelBytes[] =
    "\x08\x08"                                                                  // ir_version
    ":F"                                                                        // graph
    "\n\x0e" "\n\x01x" "\n\x01x" "\x12\x01y" "\"\x03" "Add"                     // node
    "\x12\x06" "double"                                                         // name
    "Z\x15" "\n\x01x" "\x12\x10\n\x0e\x08\x01\x12\n\n\x03\x12\x01m\n\x03\x12\x01n"  // input
    "b\x15" "\n\x01y" "\x12\x10\n\x0e\x08\x01\x12\n\n\x03\x12\x01m\n\x03\x12\x01n"  // output
    "B\x04\n\x00\x10\r";                                                        // opset_import
// clang-format on
inline constexpr std::string_view kDoubleModel(kDoubleModelBytes, sizeof(kDoubleModelBytes) - 1);
static_assert(kDoubleModel.size() == 80);

}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_TESTING_DOUBLE_MODEL_H_
