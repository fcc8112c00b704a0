// The suite for DLPack libraries on the tensors of Arrow in C++.

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/c/dlpack.h"
#include "arrow/tensor.h"
#include "arrow/type.h"
#include "dlpack_conformance/suite.h"

namespace {

using dlpack_conformance::ArraySpec;
using dlpack_conformance::Seen;
using Tensor = std::shared_ptr<arrow::Tensor>;

struct Type {
  uint8_t code, bits;
  std::shared_ptr<arrow::DataType> arrow;
};

const std::vector<Type>& Types() {
  static const auto* const types = new std::vector<Type>{
      {kDLInt, 8, arrow::int8()},       {kDLInt, 16, arrow::int16()},
      {kDLInt, 32, arrow::int32()},     {kDLInt, 64, arrow::int64()},
      {kDLUInt, 8, arrow::uint8()},     {kDLUInt, 16, arrow::uint16()},
      {kDLUInt, 32, arrow::uint32()},   {kDLUInt, 64, arrow::uint64()},
      {kDLFloat, 16, arrow::float16()}, {kDLFloat, 32, arrow::float32()},
      {kDLFloat, 64, arrow::float64()},
  };
  return *types;
}

struct Arrow {
  using Array = Tensor;

  static arrow::Result<Tensor> Make(const ArraySpec& spec) {
    for (const Type& type : Types()) {
      if (!spec.has_type(type.code, type.bits)) continue;
      const int64_t size = type.bits / 8;
      std::vector<int64_t> strides = spec.view_strides;
      for (int64_t& stride : strides) stride *= size;
      const std::string bytes(static_cast<const char*>(spec.elements), spec.nbytes());
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> memory,
                            arrow::AllocateBuffer(static_cast<int64_t>(bytes.size())));
      std::memcpy(memory->mutable_data(), bytes.data(), bytes.size());
      const int64_t offset = spec.view_offset * size;
      memory = spec.read_only ? arrow::SliceBuffer(memory, offset)
                              : arrow::SliceMutableBuffer(memory, offset);
      return arrow::Tensor::Make(type.arrow, memory, spec.view_shape, strides);
    }
    return arrow::Status::NotImplemented("no such type");
  }
  static arrow::Result<DLManagedTensorVersioned*> Export(const Tensor& x) {
    return arrow::dlpack::ExportTensorVersioned(x, false);
  }
  static arrow::Result<DLManagedTensor*> ExportLegacy(const Tensor& x) {
    return arrow::dlpack::ExportTensor(x);
  }
  static arrow::Result<DLManagedTensorVersioned*> ExportCopy(const Tensor& x) {
    return arrow::dlpack::ExportTensorVersioned(x, true);
  }
  static arrow::Result<Tensor> Import(DLManagedTensorVersioned* managed) {
    return arrow::dlpack::ImportTensorVersioned(managed);
  }
  static Seen Look(const Tensor& y) {
    Seen seen = {{}, y->raw_data(), y->shape(), y->strides()};
    for (const Type& type : Types()) {
      if (type.arrow->Equals(y->type())) seen.dtype = {type.code, type.bits, 1};
    }
    for (int64_t& stride : seen.strides) stride /= y->type()->byte_width();
    return seen;
  }
  static bool Write(const Tensor& y) {
    if (!y->is_mutable()) return false;
    *reinterpret_cast<float*>(y->raw_mutable_data()) = 7;
    return true;
  }
};

DLPACK_CONFORMANCE(Arrow, Arrow,
                   {{"consumer.null-data", "a tensor with the address NULL is made"}});

}  // namespace
