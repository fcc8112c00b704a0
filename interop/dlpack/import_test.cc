#include "dovetail/interop/dlpack/import.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "dovetail/core/testing/failing_new.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/testing/foreign.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// These tests hold for both structs.
template <typename Managed>
class ImportTest : public testing::Test {
 protected:
  Foreign<Managed> foreign;
};
using BothStructs = testing::Types<DLManagedTensorVersioned, DLManagedTensor>;
TYPED_TEST_SUITE(ImportTest, BothStructs);

TYPED_TEST(ImportTest, SharesTheMemoryAndDeletesOnceAtTheEnd) {
  {
    absl::StatusOr<Tensor> x = FromDLPack(&this->foreign.managed);
    ASSERT_TRUE(x.ok()) << x.status();
    EXPECT_EQ(*x->data<float>(), this->foreign.data);
    EXPECT_THAT(x->shape(), ElementsAre(2, 3));
    EXPECT_FALSE(x->is_read_only());
    const Tensor row = *x->Select(0, 1);
    *x = Tensor();
    EXPECT_EQ(this->foreign.deleted, 0) << "a view holds the memory";
    **row.data<float>() = 42;
    EXPECT_EQ(this->foreign.data[3], 42);
  }
  EXPECT_EQ(this->foreign.deleted, 1);
}

TYPED_TEST(ImportTest, AUniquePointerIsTakenOver) {
  using Unique = std::unique_ptr<TypeParam, DLPackDeleter>;
  {
    const absl::StatusOr<Tensor> x = FromDLPack(Unique(&this->foreign.managed));
    ASSERT_TRUE(x.ok()) << x.status();
    EXPECT_EQ(*x->template data<float>(), this->foreign.data);
    EXPECT_EQ(this->foreign.deleted, 0);
  }
  EXPECT_EQ(this->foreign.deleted, 1);
  EXPECT_FALSE(FromDLPack(Unique()).ok());
}

// Rule 30.
TYPED_TEST(ImportTest, AFailureDeletesOnce) {
  this->foreign.tensor().ndim = -1;
  EXPECT_EQ(FromDLPack(&this->foreign.managed).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(this->foreign.deleted, 1);
}

TYPED_TEST(ImportTest, NoManagedTensorIsAnError) {
  TypeParam* const none = nullptr;
  EXPECT_EQ(FromDLPack(none).status().code(), absl::StatusCode::kInvalidArgument);
  Tensor tensor;
  EXPECT_EQ(ImportDLPack(none, &tensor).code(), absl::StatusCode::kInvalidArgument);
}

// Rules 30, 57.
TYPED_TEST(ImportTest, WhoKeepsOwnershipUntilItWorksKeepsItOnFailure) {
  Tensor tensor;
  this->foreign.tensor().dtype.bits = 7;
  EXPECT_FALSE(ImportDLPack(&this->foreign.managed, &tensor).ok());
  EXPECT_TRUE(tensor.is_null());
  EXPECT_EQ(this->foreign.deleted, 0);
  this->foreign.tensor().dtype.bits = 32;
  EXPECT_TRUE(ImportDLPack(&this->foreign.managed, &tensor).ok());
  EXPECT_EQ(this->foreign.deleted, 0);
  tensor = Tensor();
  EXPECT_EQ(this->foreign.deleted, 1);
}

TYPED_TEST(ImportTest, ImportingOverATensorDropsWhatItWas) {
  Foreign<TypeParam> second;
  Tensor tensor;
  ASSERT_TRUE(ImportDLPack(&this->foreign.managed, &tensor).ok());
  ASSERT_TRUE(ImportDLPack(&second.managed, &tensor).ok());
  EXPECT_EQ(this->foreign.deleted, 1);
  EXPECT_EQ(second.deleted, 0);
  EXPECT_EQ(*tensor.template data<float>(), second.data);
}

// Rule 7.
TYPED_TEST(ImportTest, ADeleterMayBeNull) {
  this->foreign.managed.deleter = nullptr;
  EXPECT_TRUE(FromDLPack(&this->foreign.managed).ok());
  this->foreign.tensor().ndim = -1;
  EXPECT_FALSE(FromDLPack(&this->foreign.managed).ok());
  EXPECT_EQ(this->foreign.deleted, 0);
}

// Rule 28.
TYPED_TEST(ImportTest, TheDeleterRunsOnTheThreadOfTheLastReference) {
  Tensor tensor = *FromDLPack(&this->foreign.managed);
  std::thread thread([moved = std::move(tensor)]() mutable { moved = Tensor(); });
  const std::thread::id id = thread.get_id();
  thread.join();
  EXPECT_EQ(this->foreign.deleted, 1);
  EXPECT_EQ(this->foreign.deleted_on, id);
}

// Rules 10, 31.
TYPED_TEST(ImportTest, NoElementsStillDelete) {
  this->foreign.shape[0] = 0;
  this->foreign.tensor().data = nullptr;
  {
    const Tensor x = *FromDLPack(&this->foreign.managed);
    EXPECT_EQ(x.num_elements(), 0);
    EXPECT_EQ(x.raw_data(), nullptr);
  }
  EXPECT_EQ(this->foreign.deleted, 1);
}

// Rule 14.
TYPED_TEST(ImportTest, NegativeStridesAreViews) {
  this->foreign.strides[0] = -3;
  this->foreign.tensor().data = &this->foreign.data[3];
  const Tensor x = *FromDLPack(&this->foreign.managed);
  EXPECT_EQ(*x.data<float>(), &this->foreign.data[3]);
  EXPECT_EQ(*x.Select(0, 1)->template data<float>(), &this->foreign.data[0]);
  EXPECT_EQ(x.storage()->data(), this->foreign.data);
  EXPECT_EQ(x.storage()->nbytes(), sizeof this->foreign.data);
}

// Rules 19, 21.
TYPED_TEST(ImportTest, MemoryOfADeviceWithoutBackendPassesThrough) {
  this->foreign.tensor().device = {static_cast<DLDeviceType>(42), 5};
  this->foreign.tensor().byte_offset = 64;
  {
    const Tensor x = *FromDLPack(&this->foreign.managed);
    EXPECT_EQ(x.device().ToString(), "device(42):5");
    EXPECT_EQ(x.raw_data(), this->foreign.data);
    EXPECT_EQ(x.byte_offset(), 64);
  }
  EXPECT_EQ(this->foreign.deleted, 1);
}

// Rule 30.
TYPED_TEST(ImportTest, RunningOutOfMemoryDeletesOnceAndLeaksNothing) {
  int64_t shape[40];
  for (int64_t& size : shape) size = 1;
  this->foreign.tensor().ndim = 40;  // needs two allocations: the Layout's and the Storage
  this->foreign.tensor().shape = shape;
  this->foreign.tensor().strides = nullptr;
  const int64_t live = LiveBlocks();
  // On a thread of its own, whose block caches start empty and are freed when it ends.
  std::thread([&] {
    int rounds = 0;
    const int failures =
        ForEachAllocationFailure([&] { EXPECT_TRUE(FromDLPack(&this->foreign.managed).ok()); },
                                 [&] { EXPECT_EQ(this->foreign.deleted, ++rounds); });
    EXPECT_EQ(failures, 2);
  }).join();
  EXPECT_EQ(LiveBlocks(), live);
}

// Rule 2.
TEST(ImportVersioned, AnotherMajorVersionIsDeletedAndOtherwiseNotRead) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.managed.version.major = 2;
  foreign.managed.flags = ~uint64_t{0};
  foreign.tensor() = {};
  foreign.tensor().shape = reinterpret_cast<int64_t*>(uintptr_t{8});
  foreign.tensor().ndim = 3;
  absl::StatusOr<Tensor> x = FromDLPack(&foreign.managed);
  EXPECT_EQ(x.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(x.status().message()), HasSubstr("version 2."));
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(ImportVersioned, AnErrorLeavesNoTensor) {
  Foreign<DLManagedTensorVersioned> good, bad;
  Tensor tensor;
  ASSERT_TRUE(ImportDLPack(&good.managed, &tensor).ok());
  bad.managed.version.major = 9;
  EXPECT_FALSE(ImportDLPack(&bad.managed, &tensor).ok());
  EXPECT_TRUE(tensor.is_null());
  EXPECT_EQ(good.deleted, 1);
  EXPECT_EQ(bad.deleted, 0);
}

TEST(ImportNull, LeavesNoTensor) {
  Foreign<DLManagedTensorVersioned> first, second;
  Tensor tensor;
  ASSERT_TRUE(ImportDLPack(&first.managed, &tensor).ok());
  EXPECT_FALSE(ImportDLPack(static_cast<DLManagedTensorVersioned*>(nullptr), &tensor).ok());
  EXPECT_TRUE(tensor.is_null());
  ASSERT_TRUE(ImportDLPack(&second.managed, &tensor).ok());
  EXPECT_FALSE(ImportDLPack(static_cast<DLManagedTensor*>(nullptr), &tensor).ok());
  EXPECT_TRUE(tensor.is_null());
}

// The bytes of the reach overflow 64 bits, to a few bytes.
TEST(ImportVersioned, AReachThatOverflowsIsRefusedAndDeleted) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.tensor().dtype.bits = 64;
  foreign.strides[0] = int64_t{1} << 61;
  EXPECT_FALSE(FromDLPack(&foreign.managed).ok());
  EXPECT_EQ(foreign.deleted, 1);
}

// Rules 34, 43.
TEST(ImportVersioned, ReadOnlyIsKeptAndLegacyIsWritable) {
  Foreign<DLManagedTensorVersioned> read_only;
  read_only.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  const Tensor x = *FromDLPack(&read_only.managed);
  EXPECT_TRUE(x.is_read_only());
  EXPECT_FALSE(x.data<float>().ok());
  Foreign<DLManagedTensor> legacy;
  EXPECT_FALSE(FromDLPack(&legacy.managed)->is_read_only());
}

// Rule 5.
TEST(ImportVersioned, UnknownFlagsAreRefusedAndDeleted) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.managed.flags = 8;
  EXPECT_THAT(std::string(FromDLPack(&foreign.managed).status().message()), HasSubstr("0x8"));
  EXPECT_EQ(foreign.deleted, 1);
}

// Rule 18.
TEST(ImportVersioned, PaddedElementsHaveAByteEach) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.managed.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  foreign.tensor().dtype = {kDLFloat4_e2m1fn, 4, 1};
  const Tensor x = *FromDLPack(&foreign.managed);
  EXPECT_EQ(x.nbytes(), 6);
  EXPECT_EQ(x.Select(0, 1)->raw_data(), reinterpret_cast<char*>(foreign.data) + 3);
}

// Rules 30, 56.
TEST(ImportLent, ATensorIsCopiedFromAndItsMemoryGivenBackByTheRelease) {
  Foreign<DLManagedTensorVersioned> foreign;
  int released = 0;
  const Storage::Release release{[](void* count) { ++*static_cast<int*>(count); }, &released};
  Tensor x;
  foreign.tensor().ndim = -1;
  EXPECT_EQ(ImportDLTensor(foreign.tensor(), 0, release, &x).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(x.is_null());
  EXPECT_EQ(released, 0) << "what was not taken is not given back";
  foreign.tensor().ndim = 2;
  ASSERT_TRUE(ImportDLTensor(foreign.tensor(), DLPACK_FLAG_BITMASK_READ_ONLY, release, &x).ok());
  foreign.tensor().shape[0] = 99;
  EXPECT_THAT(x.shape(), ElementsAre(2, 3));
  EXPECT_EQ(x.raw_data(), foreign.data);
  EXPECT_TRUE(x.is_read_only());
  x = Tensor();
  EXPECT_EQ(released, 1);
  EXPECT_EQ(foreign.deleted, 0);
}

}  // namespace
}  // namespace dovetail
