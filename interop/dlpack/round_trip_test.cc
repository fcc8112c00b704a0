// A tensor that Dovetail exports and imports again shares its Storage and is not wrapped again.

#include <functional>
#include <vector>

#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/view.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

class RoundTrip : public testing::Test {
 protected:
  float data[6] = {};
  int released = 0;

  // The address `offset` bytes from the data, which may lie outside.
  void* At(int64_t offset) {
    return reinterpret_cast<void*>(reinterpret_cast<intptr_t>(data) + offset);
  }

  Tensor Make(Device device = Device::Cpu(), int64_t byte_offset = 0) {
    return *Tensor::Make(
        Storage::Adopt(data, sizeof data, device,
                       {[](void* count) { ++*static_cast<int*>(count); }, &released}),
        byte_offset, kFloat32, *Layout::Contiguous({2, 3}), {});
  }
};

TEST_F(RoundTrip, OurOwnExportIsUnwrapped) {
  {
    const Tensor t = Make();
    const Tensor row = *t.Select(0, 1);
    const Tensor back = *FromDLPack(ToDLPack(row)->release());
    EXPECT_EQ(back.storage(), t.storage());
    EXPECT_EQ(back.byte_offset(), row.byte_offset());
    EXPECT_EQ(back.layout(), row.layout());
    EXPECT_EQ(t.storage()->use_count(), 3);
    const Tensor legacy = *FromDLPack(ToDLPackLegacy(row)->release());
    EXPECT_EQ(legacy.storage(), t.storage());
  }
  EXPECT_EQ(released, 1);
}

// Rules 18, 43.
TEST_F(RoundTrip, AccessAndPackingSurvive) {
  EXPECT_TRUE(FromDLPack(ToDLPack(Make().ReadOnly())->release())->is_read_only());
  const Tensor padded = *Tensor::Make(Storage::Adopt(data, 6, Device::Cpu(), {}), 0, kInt4,
                                      *Layout::Contiguous({6}), {.packing = Packing::kPadded});
  EXPECT_EQ(FromDLPack(ToDLPack(padded)->release())->packing(), Packing::kPadded);
}

// Rule 18.
TEST_F(RoundTrip, AFlagOfPaddingMeansNothingForElementsThatFillBytes) {
  for (const DLDataType dtype : {DLDataType{kDLFloat, 32, 1}, DLDataType{kDLFloat4_e2m1fn, 4, 2},
                                 DLDataType{kDLFloat6_e2m3fn, 6, 4}}) {
    DLManagedTensorVersioned* const managed = ToDLPack(Make())->release();
    managed->dl_tensor.dtype = dtype;
    managed->flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
    const Tensor t = *FromDLPack(managed);
    EXPECT_EQ(t.packing(), Packing::kPacked);
    EXPECT_EQ((*ToDLPack(t))->flags, 0u);
    EXPECT_TRUE(ToDLPackLegacy(t).ok());
  }
}

// Rule 21.
TEST_F(RoundTrip, OpaqueHandlesAndEmptyTensorsComeBack) {
  const Tensor metal = Make({DeviceType::kMetal, 0}, 48);
  const Tensor back = *FromDLPack(ToDLPack(metal)->release());
  EXPECT_EQ(back.storage(), metal.storage());
  EXPECT_EQ(back.byte_offset(), 48);
  const Tensor t = Make();
  const Tensor empty = *t.Slice(0, {.stop = 0});
  EXPECT_EQ(FromDLPack(ToDLPack(empty)->release())->storage(), t.storage());
}

// Rules 10, 21. Element 0 of a view without elements may lie before its handle.
TEST_F(RoundTrip, EmptyTensorsOnOpaqueDevicesComeBack) {
  for (int64_t offset : {int64_t{0}, int64_t{48}, int64_t{-4}, INT64_MIN}) {
    const Tensor metal = Make({DeviceType::kMetal, 0}, 48);
    const Tensor empty = internal_tensor::MakeUnchecked(metal.storage(), offset, metal.dtype(),
                                                        *Layout::Contiguous({0, 3}), {});
    absl::StatusOr<Tensor> back = FromDLPack(ToDLPack(empty)->release());
    ASSERT_TRUE(back.ok()) << offset << back.status();
    EXPECT_EQ(back->storage(), metal.storage());
    EXPECT_EQ(back->shape(), empty.shape());
    TensorView view;
    const absl::Status borrowed = FromDLTensor(ToDLTensor(empty.view()), &view);
    EXPECT_TRUE(borrowed.ok()) << offset << borrowed;
  }
}

// A consumer may edit the struct before it comes back. The import then follows the edited fields.
TEST_F(RoundTrip, AnEditThatStaysInsideOurMemoryIsFollowed) {
  const Tensor t = Make();
  DLManagedTensorVersioned* managed = ToDLPack(t)->release();
  managed->dl_tensor.shape[0] = 1;
  managed->dl_tensor.byte_offset = 12;
  managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  const Tensor back = *FromDLPack(managed);
  EXPECT_EQ(back.storage(), t.storage());
  EXPECT_EQ(*back.data<const float>(), &data[3]);
  EXPECT_TRUE(back.is_read_only());
}

TEST_F(RoundTrip, AnEditThatLeavesOurMemoryIsTakenAsForeign) {
  float other[6] = {};
  const std::vector<std::function<void(DLTensor&)>> edits = {
      [&](DLTensor& d) { d.data = other; },
      [&](DLTensor& d) { d.data = At(-4); },              // begins before it
      [&](DLTensor& d) { d.data = At(28); },              // begins beyond its end
      [&](DLTensor& d) { d.byte_offset = 4; },            // ends beyond it
      [&](DLTensor& d) { d.byte_offset = 1; },            // by one byte
      [&](DLTensor& d) { d.byte_offset = sizeof data; },  // begins at its end
      [&](DLTensor& d) { d.shape[0] = 3; },
      [&](DLTensor& d) { d.strides[0] = 4; },
      [&](DLTensor& d) { d.dtype.bits = 64; },
      [&](DLTensor& d) { d.device = {kDLCUDA, 0}; },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    released = 0;
    {
      const Tensor t = Make();
      DLManagedTensorVersioned* managed = ToDLPack(t)->release();
      DLTensor& d = managed->dl_tensor;
      edits[i](d);
      const Device device{static_cast<DeviceType>(d.device.device_type), d.device.device_id};
      const void* const first = static_cast<char*>(d.data) + d.byte_offset;
      const Tensor back = *FromDLPack(managed);
      EXPECT_NE(back.storage(), t.storage()) << i;
      EXPECT_EQ(back.raw_data(), first) << i;
      EXPECT_GE(back.storage()->nbytes(), static_cast<size_t>(back.nbytes())) << i;
      EXPECT_EQ(back.device(), device) << i;
      EXPECT_EQ(t.storage()->use_count(), 2) << "the export is kept " << i;
    }
    EXPECT_EQ(released, 1) << i;
  }
}

// Handles are not addresses, so that none lies inside of another's memory.
TEST_F(RoundTrip, AnEditedOpaqueHandleIsTakenAsForeign) {
  const Tensor t = Make({DeviceType::kMetal, 0});
  DLManagedTensorVersioned* managed = ToDLPack(t)->release();
  managed->dl_tensor.data = At(4);
  managed->dl_tensor.shape[0] = 1;
  const Tensor back = *FromDLPack(managed);
  EXPECT_NE(back.storage(), t.storage());
  EXPECT_EQ(back.storage()->data(), At(4));
}

TEST_F(RoundTrip, AnEditThatIsNotValidIsRefusedAndReleased) {
  DLManagedTensorVersioned* managed = ToDLPack(Make())->release();
  managed->dl_tensor.ndim = 65;
  EXPECT_FALSE(FromDLPack(managed).ok());
  EXPECT_EQ(released, 1);
}

TEST_F(RoundTrip, ManyTripsAddNoLayers) {
  Tensor t = Make();
  for (int i = 0; i < 1000; ++i) t = *FromDLPack(ToDLPack(t)->release());
  EXPECT_EQ(t.storage()->use_count(), 1);
  EXPECT_EQ(*t.data<float>(), data);
  t = Tensor();
  EXPECT_EQ(released, 1);
}

TEST_F(RoundTrip, EveryTypeAndRankSurvives) {
  alignas(16) static char bytes[16 * 16];
  for (DType dtype : kAllDTypes) {
    for (int rank : {0, 1, 6, 7, 64}) {
      const Tensor t = *Tensor::Make(Storage::Adopt(bytes, sizeof bytes, Device::Cpu(), {}), 0,
                                     dtype, *Layout::Contiguous(std::vector<int64_t>(rank, 1)), {});
      const Tensor back = *FromDLPack(ToDLPack(t)->release());
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.layout(), t.layout());
    }
  }
}

}  // namespace
}  // namespace dovetail
