// Converts between the types of arrow::Tensor and DType. One table serves both directions.
//
//   const std::shared_ptr<arrow::DataType>* type = ToArrowType(kFloat32);  // nullptr: it has none
//   std::optional<DType> dtype = FromArrowType(arrow::Type::FLOAT);
//
// The types are those of arrow::is_tensor_supported(). Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_TENSOR_TYPE_TABLE_H_
#define DOVETAIL_INTEROP_ARROW_TENSOR_TYPE_TABLE_H_

#include <memory>
#include <optional>

#include "arrow/type.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/pair_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_arrow_tensor {

struct TypePair {
  arrow::Type::type id;
  const std::shared_ptr<arrow::DataType>& (*type)();
  DType dtype;
};

DOVETAIL_NOT_SHARED inline constexpr TypePair kTypes[] = {
    {arrow::Type::INT8, &arrow::int8, kInt8},
    {arrow::Type::INT16, &arrow::int16, kInt16},
    {arrow::Type::INT32, &arrow::int32, kInt32},
    {arrow::Type::INT64, &arrow::int64, kInt64},
    {arrow::Type::UINT8, &arrow::uint8, kUInt8},
    {arrow::Type::UINT16, &arrow::uint16, kUInt16},
    {arrow::Type::UINT32, &arrow::uint32, kUInt32},
    {arrow::Type::UINT64, &arrow::uint64, kUInt64},
    {arrow::Type::HALF_FLOAT, &arrow::float16, kFloat16},
    {arrow::Type::FLOAT, &arrow::float32, kFloat32},
    {arrow::Type::DOUBLE, &arrow::float64, kFloat64},
};

inline const std::shared_ptr<arrow::DataType>* ToArrowType(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return &pair.type();
  }
  return nullptr;
}

inline std::optional<DType> FromArrowType(arrow::Type::type id) {
  return internal_interop::Find(kTypes, &TypePair::id, id, &TypePair::dtype);
}

}  // namespace internal_arrow_tensor
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_TENSOR_TYPE_TABLE_H_
