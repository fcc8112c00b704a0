// A million imports and exports leak no block and call each deleter once.

#include <cstdint>
#include <vector>

#include "dovetail/core/testing/failing_new.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/testing/foreign.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

constexpr int kMillion = 1'000'000;

// Calls exchange() some times to fill the block caches, and then a million times.
template <typename Exchange>
void ExpectNothingLeft(Exchange exchange) {
  for (int i = 0; i < 1000; ++i) exchange();
  const int64_t before = LiveBlocks();
  for (int i = 0; i < kMillion; ++i) exchange();
  EXPECT_EQ(LiveBlocks(), before);
}

class Leak : public testing::Test {
 protected:
  float data[6] = {};

  Tensor Make(std::vector<int64_t> sizes = {2, 3}) {
    return *Tensor::Make(Storage::Adopt(data, sizeof data, Device::Cpu(), {}), 0, kFloat32,
                         *Layout::Contiguous(sizes), {});
  }
};

TEST_F(Leak, ExportsThatNobodyTakes) {
  const Tensor t = Make();
  ExpectNothingLeft([&] { EXPECT_TRUE(ToDLPack(t).ok()); });
  ExpectNothingLeft([&] { EXPECT_TRUE(ToDLPackLegacy(t).ok()); });
  EXPECT_EQ(t.storage()->use_count(), 1);
}

// More dimensions than fit in a block of the usual size.
TEST_F(Leak, ExportsOfManyDimensions) {
  const Tensor t = Make(std::vector<int64_t>(20, 1));
  ExpectNothingLeft([&] { EXPECT_TRUE(ToDLPack(t).ok()); });
}

TEST_F(Leak, ExportsThatComeBack) {
  const Tensor t = Make();
  ExpectNothingLeft([&] { EXPECT_TRUE(FromDLPack(ToDLPack(t)->release()).ok()); });
  EXPECT_EQ(t.storage()->use_count(), 1);
}

template <typename Managed>
void ExpectForeignTensorsAreDeletedOnce() {
  Foreign<Managed> foreign;
  int64_t calls = 0;
  ExpectNothingLeft([&] {
    ++calls;
    EXPECT_TRUE(FromDLPack(&foreign.managed).ok());
  });
  EXPECT_EQ(foreign.deleted, calls);
}

TEST_F(Leak, ImportsOfForeignTensors) {
  ExpectForeignTensorsAreDeletedOnce<DLManagedTensorVersioned>();
  ExpectForeignTensorsAreDeletedOnce<DLManagedTensor>();
}

TEST_F(Leak, ImportsThatGoOn) {
  Foreign<DLManagedTensorVersioned> foreign;
  int64_t calls = 0;
  ExpectNothingLeft([&] {
    ++calls;
    EXPECT_TRUE(ToDLPack(*FromDLPack(&foreign.managed)).ok());
  });
  EXPECT_EQ(foreign.deleted, calls);
}

// Rule 30.
TEST_F(Leak, ImportsThatAreRefused) {
  Foreign<DLManagedTensorVersioned> foreign;
  foreign.tensor().ndim = -1;
  int64_t calls = 0;
  ExpectNothingLeft([&] {
    ++calls;
    EXPECT_FALSE(FromDLPack(&foreign.managed).ok());
  });
  EXPECT_EQ(foreign.deleted, calls);
}

}  // namespace
}  // namespace dovetail
