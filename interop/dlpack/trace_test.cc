// What the doors of DLPack tell a trace.

#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/trace/exchange.h"
#include "dovetail/core/trace/trace.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DLPackTrace : public testing::Test {
 protected:
  std::vector<std::string> told;
  TraceSubscription trace{[this](const TraceEvent& event) { told.push_back(event.ToString()); }};
  float values[6] = {};
  const Tensor tensor = *Tensor::Make(Storage::Adopt(values, sizeof(values), Device::Cpu(), {}), 0,
                                      kFloat32, *Layout::Contiguous({2, 3}), {});
};

TEST_F(DLPackTrace, AnExportAndAnImportAreTold) {
  absl::StatusOr<UniqueDLPack> managed = ToDLPack(tensor);
  ASSERT_TRUE(managed.ok());
  ASSERT_TRUE(FromDLPack(managed->release()).ok());
  EXPECT_THAT(told,
              ElementsAre(HasSubstr("export DLPack: shared, float32 [2, 3] on cpu, 24 bytes"),
                          HasSubstr("import DLPack: shared, float32 [2, 3] on cpu, 24 bytes")));
}

TEST_F(DLPackTrace, TheLegacyFormsAreTold) {
  absl::StatusOr<UniqueDLPackLegacy> managed = ToDLPackLegacy(tensor);
  ASSERT_TRUE(managed.ok());
  Tensor taken;
  ASSERT_TRUE(ImportDLPack(managed->release(), &taken).ok());
  EXPECT_THAT(told,
              ElementsAre(HasSubstr("export DLPack: shared"), HasSubstr("import DLPack: shared")));
}

TEST_F(DLPackTrace, WhatIsRefusedIsToldWithItsReason) {
  EXPECT_FALSE(ToDLPackLegacy(tensor.ReadOnly()).ok());
  EXPECT_FALSE(FromDLPack(static_cast<DLManagedTensorVersioned*>(nullptr)).ok());
  EXPECT_THAT(told, ElementsAre(HasSubstr("export DLPack: failed"), HasSubstr("nullptr")));
}

TEST_F(DLPackTrace, AnExchangeThatIsPartOfAnotherIsNotTold) {
  const internal_trace::ExchangeScope outer;
  ASSERT_TRUE(ToDLPack(tensor).ok());
  EXPECT_THAT(told, IsEmpty());
}

}  // namespace
}  // namespace dovetail
