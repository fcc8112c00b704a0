// Converts between ONNXTensorElementDataType and DType. One table serves both directions.
//
//   std::optional<DType> t = DTypeFromOrt(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);   // kFloat32
//   ONNXTensorElementDataType o = OrtFromDType(kFloat32);                         // …_FLOAT
//
// Strings are no numbers and are not in the table. ONNX Runtime packs sub-byte elements as Dovetail
// does: lowest bits first, odd counts padded to a whole byte. Any thread.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_TYPE_TABLE_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_TYPE_TABLE_H_

#include <cstddef>
#include <iterator>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/pair_table.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

struct TypePair {
  ONNXTensorElementDataType ort;
  DType core;
};

DOVETAIL_NOT_SHARED inline constexpr TypePair kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kFloat32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, kUInt8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, kInt8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, kUInt16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, kInt16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, kInt32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, kInt64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, kBool},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, kFloat16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, kFloat64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, kUInt32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, kUInt64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, kComplex64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, kComplex128},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, kBFloat16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, kFloat8E4M3Fn},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, kFloat8E4M3Fnuz},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, kFloat8E5M2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, kFloat8E5M2Fnuz},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, kUInt4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, kInt4},
    // Later versions of the header name these: FLOAT4E2M1, UINT2, INT2 and FLOAT8E8M0. A library
    // newer than the header already uses their numbers.
    {static_cast<ONNXTensorElementDataType>(23), kFloat4E2M1Fn},
    {static_cast<ONNXTensorElementDataType>(24), kUInt2},
    {static_cast<ONNXTensorElementDataType>(25), kInt2},
    {static_cast<ONNXTensorElementDataType>(26), kFloat8E8M0Fnu},
};

// The types of both sides, by the number of ONNX Runtime's. A type without lanes is not known.
struct TypesByNumber {
  DType core[std::size(kTypes) + 2];
};
constexpr TypesByNumber MakeTypesByNumber() {
  TypesByNumber types;
  for (DType& t : types.core) t.lanes = 0;
  for (const TypePair& pair : kTypes) types.core[pair.ort] = pair.core;
  return types;
}
DOVETAIL_NOT_SHARED inline constexpr TypesByNumber kTypesByNumber = MakeTypesByNumber();

// There are as many pairs as numbers without those of "undefined" and "string", so each has one.
static_assert(internal_interop::IsBijection(kTypes, &TypePair::ort, &TypePair::core));
static_assert(!kTypesByNumber.core[ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED].is_known());
static_assert(!kTypesByNumber.core[ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING].is_known());

}  // namespace internal_onnxruntime

// nullopt for strings, for undefined and for numbers that are not in the table.
constexpr std::optional<DType> DTypeFromOrt(ONNXTensorElementDataType type) {
  using internal_onnxruntime::kTypesByNumber;
  const auto number = static_cast<size_t>(type);
  if (number >= std::size(kTypesByNumber.core) || kTypesByNumber.core[number].lanes == 0) {
    return std::nullopt;
  }
  return kTypesByNumber.core[number];
}

// ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for a type that ONNX Runtime lacks.
constexpr ONNXTensorElementDataType OrtFromDType(DType dtype) {
  using internal_onnxruntime::kTypes, internal_onnxruntime::TypePair;
  return internal_interop::Find(kTypes, &TypePair::core, dtype, &TypePair::ort)
      .value_or(ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_TYPE_TABLE_H_
