// FromDLPack has a fast path for nearly all tensors; ImportDLPack always takes the general path.
// Both must accept the same inputs and make the same tensors.

#include <cstdint>
#include <random>
#include <vector>

#include "dovetail/interop/dlpack/import.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

class Structs {
 public:
  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  template <typename T>
  T OneOf(const std::vector<T>& values) {
    return values[Below(static_cast<int64_t>(values.size()))];
  }

  // Mostly plain; now and then one field is unusual or invalid.
  DLManagedTensorVersioned Next() {
    static constexpr int64_t kHuge = int64_t{1} << 62;
    const bool odd = Below(2) == 0;
    const auto rank = static_cast<int32_t>(odd ? Below(9) - 1 : 1 + Below(4));
    shape_.clear();
    strides_.clear();
    int64_t step = 1;
    for (int i = 0; i < rank; ++i) {
      const bool rare = odd && Below(6) == 0;
      shape_.push_back(rare ? OneOf<int64_t>({0, -1, int64_t{1} << 30, kHuge}) : 1 + Below(4));
      strides_.push_back(odd && Below(6) == 0 ? OneOf<int64_t>({-1, -7, 0, kHuge, -kHuge - kHuge})
                                              : step);
      step += Below(9);
    }
    DLManagedTensorVersioned m = {};
    m.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    m.flags = odd ? static_cast<uint64_t>(Below(9)) : static_cast<uint64_t>(Below(2));
    m.dl_tensor = {
        .data = odd && Below(8) == 0
                    ? OneOf<void*>({nullptr, reinterpret_cast<void*>(~uint64_t{3})})
                    : bytes_,
        .device = odd && Below(8) == 0 ? OneOf<DLDevice>({{kDLCPU, 1},
                                                          {kDLCPU, -1},
                                                          {kDLCUDA, 0},
                                                          {kDLMetal, 0},
                                                          {DLDeviceType(40), 2}})
                                       : DLDevice{kDLCPU, 0},
        .ndim = rank,
        .dtype = odd && Below(4) == 0
                     ? OneOf<DLDataType>({{kDLInt, 4, 1},
                                          {kDLInt, 4, 2},
                                          {kDLFloat, 7, 1},
                                          {99, 32, 1},
                                          {kDLUInt, 64, 65535},
                                          {kDLInt, 8, 0}})
                     : OneOf<DLDataType>({{kDLFloat, 32, 1}, {kDLBfloat, 16, 1}, {kDLBool, 8, 1}}),
        .shape = odd && Below(20) == 0 ? nullptr : shape_.data(),
        .strides = odd && Below(6) == 0 ? nullptr : strides_.data(),
        .byte_offset = odd ? OneOf<uint64_t>({0, 1, 64, ~uint64_t{0}, uint64_t{1} << 63}) : 0,
    };
    return m;
  }

 private:
  std::mt19937_64 random_{20};
  std::vector<int64_t> shape_, strides_;
  char bytes_[64] = {};
};

TEST(ImportPaths, BothTakeTheSameAndMakeTheSameOfIt) {
  Structs structs;
  int taken = 0, refused = 0;
  for (int i = 0; i < 200'000; ++i) {
    DLManagedTensorVersioned managed = structs.Next();
    int deleted = 0;
    managed.manager_ctx = &deleted;
    managed.deleter = [](DLManagedTensorVersioned* m) { ++*static_cast<int*>(m->manager_ctx); };
    {
      Tensor by_long_way;
      const absl::Status status = ImportDLPack(&managed, &by_long_way);
      EXPECT_EQ(deleted, 0);
      const absl::StatusOr<Tensor> x = FromDLPack(&managed);
      ASSERT_EQ(x.status(), status) << i;
      ASSERT_EQ(deleted, status.ok() ? 0 : 1) << i;
      ++(status.ok() ? taken : refused);
      if (!status.ok()) continue;
      ASSERT_EQ(x->layout(), by_long_way.layout()) << i;
      ASSERT_EQ(x->num_elements(), by_long_way.num_elements()) << i;
      ASSERT_EQ(x->dtype(), by_long_way.dtype()) << i;
      ASSERT_EQ(x->device(), by_long_way.device()) << i;
      ASSERT_EQ(x->access(), by_long_way.access()) << i;
      ASSERT_EQ(x->packing(), by_long_way.packing()) << i;
      ASSERT_EQ(x->raw_data(), by_long_way.raw_data()) << i;
      ASSERT_EQ(x->storage()->data(), by_long_way.storage()->data()) << i;
      ASSERT_EQ(x->storage()->nbytes(), by_long_way.storage()->nbytes()) << i;
    }
    ASSERT_EQ(deleted, 2) << "once for each of the two tensors";
  }
  EXPECT_GT(taken, 20'000);
  EXPECT_GT(refused, 20'000);
}

}  // namespace
}  // namespace dovetail
