// Tensors of a pool, in this process and in others.

#include "dovetail/interop/ipc/pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/record.h"
#include "dovetail/interop/ipc/share.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

std::string MessageOf(const absl::Status& s) { return std::string(s.message()); }

class IpcPool : public testing::Test {
 protected:
  // 0, 1, 2, … in the pool.
  Tensor Counting(absl::Span<const int64_t> shape, DType dtype = kInt32) {
    Tensor t = *pool_.Empty(shape, dtype);
    for (int64_t i = 0; i < t.num_elements(); ++i) static_cast<int32_t*>(t.raw_data())[i] = i;
    return t;
  }
  uint64_t UsedSlots() { return pool_.Stats()->used_slots; }

  ScopedBackendOverride cpu_{MakeCpuBackend()};
  Pool pool_ = *Pool::Create({.nbytes = 1 << 20});
};

// Opens messages and answers with the tensor's text and its first number, or with the error.
void OpenWhenTold(Channel& parent) {
  Tensor t;
  while (true) {
    absl::StatusOr<Tensor> opened = Open(parent.Receive<std::string>());
    parent.Send(opened.ok() ? opened->ToString() : MessageOf(opened.status()));
    int32_t first = -1;
    if (opened.ok()) t = *std::move(opened);
    if (!t.is_null() && t.num_elements() != 0) first = *static_cast<const int32_t*>(t.raw_data());
    parent.Send(first);
  }
}

TEST_F(IpcPool, MessagesOfUsualLayoutsHaveAtMost64BytesAndNeedNoRecord) {
  const std::vector<std::vector<int64_t>> shapes = {
      {}, {1}, {100'000}, {32, 3, 7, 11}, {2, 3, 4, 5, 6}, {128, 1, 1, 1, 1, 1, 1, 1}};
  for (const std::vector<int64_t>& shape : shapes) {
    const Tensor t = Counting(shape);
    const std::string message = *pool_.Share(t);
    EXPECT_LE(message.size(), 64u) << t.ToString();
    EXPECT_EQ(UsedSlots(), 1u) << t.ToString();
    const Tensor u = *Open(message);
    EXPECT_EQ(u.ToString(), t.ToString());
    EXPECT_EQ(u.raw_data(), t.raw_data());
  }
  const Tensor t = Counting({40, 50, 60});
  EXPECT_LE(pool_.Share(*t.Permute({2, 0, 1}))->size(), 64u);
  EXPECT_EQ(UsedSlots(), 1u);
}

TEST_F(IpcPool, AnotherProcessOpensAView) {
  ChildProcess child(&OpenWhenTold);
  const Tensor t = Counting({4, 5});
  child.Send(*pool_.Share(*t.Permute({1, 0})->Slice(0, {.start = 1, .step = 2})));
  EXPECT_EQ(child.Receive<std::string>(), "int32 tensor of shape (2, 4), strides (2, 5), on cpu");
  EXPECT_EQ(child.Receive<int32_t>(), 1);
  child.Send(*pool_.Share(*t.Slice(1, {.step = -1})));
  EXPECT_EQ(child.Receive<std::string>(), "int32 tensor of shape (4, 5), strides (5, -1), on cpu");
  EXPECT_EQ(child.Receive<int32_t>(), 4);
}

TEST_F(IpcPool, SubByteTypesAndPaddingAreKept) {
  const Tensor packed = *pool_.Empty({3, 8}, kFloat4E2M1Fn);
  EXPECT_EQ(packed.nbytes(), 12);
  const Tensor view = *packed.Slice(1, {.start = 4});
  const Tensor u = *Open(*pool_.Share(view));
  EXPECT_EQ(u.ToString(), view.ToString());
  EXPECT_EQ(u.raw_data(), view.raw_data());
  EXPECT_EQ(u.packing(), Packing::kPacked);
  const Tensor padded = *Tensor::Make(packed.storage(), 2, kFloat4E2M1Fn, *Layout::Contiguous({5}),
                                      {.packing = Packing::kPadded});
  EXPECT_EQ(Open(*pool_.Share(padded))->packing(), Packing::kPadded);
}

TEST_F(IpcPool, LongHandlesGoThroughARecordThatIsMadeOnce) {
  ChildProcess child(&OpenWhenTold);
  Tensor t = Counting({64});
  std::vector<int64_t> shape(Layout::kMaxRank, 1), strides(Layout::kMaxRank);
  shape[5] = 2;
  for (size_t i = 0; i < strides.size(); ++i) strides[i] = static_cast<int64_t>(i) * 1'000'003;
  strides[5] = 7;
  Tensor wide = *Tensor::Make(t.storage(), 12, kInt32, *Layout::Strided(shape, strides), {});
  const std::string text = wide.ToString();
  EXPECT_GT(Share(wide)->ToBytes().size(), 300u);
  const std::string message = *pool_.Share(wide);
  EXPECT_LE(message.size(), 64u);
  EXPECT_EQ(UsedSlots(), 2u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(*pool_.Share(wide), message);
  EXPECT_EQ(UsedSlots(), 2u);
  child.Send(message);
  EXPECT_EQ(child.Receive<std::string>(), text);
  EXPECT_EQ(child.Receive<int32_t>(), 3);
  wide = Tensor();
  EXPECT_TRUE(Open(message).ok()) << "the memory is still held";
  t = Tensor();
  EXPECT_EQ(UsedSlots(), 1u) << "the child's tensor, without a record";
  child.Send(message);
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("has released it"));
  child.Kill();
  EXPECT_EQ(UsedSlots(), 0u);
}

TEST_F(IpcPool, ARecordThatWasWrittenOverIsRefused) {
  const Tensor t = Counting({64});
  const SlotHold memory = SlotHold::FindAt(t.raw_data());
  const std::string message = *ToMessage(std::string(200, 'h'), memory);
  EXPECT_EQ(FromMessage(message)->handle, std::string(200, 'h'));
  EXPECT_EQ(Open(message).status().code(), absl::StatusCode::kInvalidArgument);
  SlotName name = *SlotName::FromBytes(message.substr(3));
  EXPECT_TRUE(name.read_only);
  name.read_only = false;
  const SlotHold record = *SlotHold::Open(name);
  for (const uint64_t nbytes : {record.nbytes() - 7, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    std::memcpy(*record.Data(), &nbytes, sizeof nbytes);
    EXPECT_EQ(FromMessage(message).status().code(), absl::StatusCode::kInvalidArgument) << nbytes;
  }
}

TEST_F(IpcPool, MessagesThatAreNoneAreInvalid) {
  const Tensor t = Counting({64});
  const std::string record = *ToMessage(std::string(200, 'h'), SlotHold::FindAt(t.raw_data()));
  for (const std::string& message :
       {std::string(), std::string("DR3"), record + "x", record.substr(0, record.size() - 1),
        std::string("DR3") + record.substr(3), std::string(64, '\0')}) {
    EXPECT_EQ(Open(message).status().code(), absl::StatusCode::kInvalidArgument) << message.size();
  }
}

TEST_F(IpcPool, AHandleOf65BytesIsARecordAndOneOf64IsNot) {
  const Tensor t = Counting({64});
  const SlotHold memory = SlotHold::FindAt(t.raw_data());
  EXPECT_EQ(*ToMessage(std::string(64, 'h'), memory), std::string(64, 'h'));
  EXPECT_TRUE(ToMessage(std::string(65, 'h'), memory)->starts_with("DR3"));
}

TEST_F(IpcPool, WithoutRoomForARecordAMessageIsAnError) {
  const Pool small = *Pool::Create({.nbytes = 4096});
  const Tensor t = *small.Empty({1024}, kInt32);
  std::vector<int64_t> shape(Layout::kMaxRank, 1), strides(Layout::kMaxRank, 12345678);
  const Tensor wide = *Tensor::Make(t.storage(), 0, kInt32, *Layout::Strided(shape, strides), {});
  EXPECT_EQ(small.Share(wide).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(small.Share(t).ok());
}

TEST_F(IpcPool, MemoryIsFreeWhenNobodyHasATensorOverIt) {
  ChildProcess child([](Channel& parent) {
    Tensor t = *Open(parent.Receive<std::string>());
    parent.Send(true);
    parent.Receive<char>();
    parent.Send(static_cast<int32_t*>(t.raw_data())[99]);
    t = Tensor();
    parent.Send(true);
    pause();
  });
  Tensor t = Counting({100});
  const void* data = t.raw_data();
  const std::string message = *pool_.Share(t);
  child.Send(message);
  child.Receive<bool>();
  t = Tensor();
  EXPECT_NE(Counting({100}).raw_data(), data);
  child.Send('x');
  EXPECT_EQ(child.Receive<int32_t>(), 99);
  child.Receive<bool>();
  EXPECT_EQ(UsedSlots(), 0u);
  EXPECT_THAT(MessageOf(Open(message).status()), HasSubstr("has released it"));
}

TEST_F(IpcPool, ATensorSharedReadOnlyCantBeWrittenByWhoOpensIt) {
  ChildProcess child([](Channel& parent) {
    const Tensor t = *Open(parent.Receive<std::string>());
    parent.Send(t.is_read_only());
    parent.Send(static_cast<const int32_t*>(t.raw_data())[1]);
    signal(SIGSEGV, SIG_DFL);  // not a sanitizer's handler
    static_cast<volatile int32_t*>(const_cast<void*>(t.raw_data()))[1] = 5;
  });
  const Tensor t = Counting({3});
  child.Send(*pool_.Share(t, {.read_only = true}));
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_EQ(child.Receive<int32_t>(), 1);
  const int status = child.Join();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_EQ(static_cast<int32_t*>(t.raw_data())[1], 1);
  EXPECT_FALSE(t.is_read_only());
  const Tensor here = *Open(*pool_.Share(t, {.read_only = true}));
  EXPECT_TRUE(here.is_read_only());
  EXPECT_NE(here.raw_data(), t.raw_data());
}

TEST_F(IpcPool, WhatWasOpenedReadOnlyIsSharedOnReadOnly) {
  const Tensor t = Counting({3});
  const Tensor here = *Open(*pool_.Share(t, {.read_only = true}));
  const Tensor again = *Open(*pool_.Share(here));
  EXPECT_TRUE(again.is_read_only());
  EXPECT_EQ(again.raw_data(), here.raw_data());
}

TEST_F(IpcPool, MemoryThatIsNotOfThisPoolIsRefused) {
  const Pool other = *Pool::Create({.nbytes = 1 << 16});
  const Tensor t = *other.Empty({4}, kInt32);
  EXPECT_THAT(MessageOf(pool_.Share(t).status()), HasSubstr("not of this pool"));
  EXPECT_THAT(MessageOf(pool_.Share(*Empty({4}, kInt32)).status()), HasSubstr("not of this pool"));
  EXPECT_THAT(MessageOf(pool_.Share(*Tensor::Empty({4}, kInt32)).status()),
              HasSubstr("not of this pool"));
  EXPECT_FALSE(pool_.Share(Tensor()).ok());
  EXPECT_TRUE(Share(t).ok()) << "without a pool it is shared all the same";
}

TEST_F(IpcPool, WithoutElementsNoMemoryIsUsed) {
  const Tensor t = *pool_.Empty({3, 0, 5}, kFloat64);
  EXPECT_EQ(UsedSlots(), 0u);
  const Tensor u = *Open(*pool_.Share(t));
  EXPECT_EQ(u.ToString(), t.ToString());
  const Tensor some = Counting({4});
  EXPECT_EQ(Open(*pool_.Share(*some.Slice(0, {.start = 4})))->num_elements(), 0);
}

TEST_F(IpcPool, ShapesThatNoMemoryHoldsAreErrors) {
  EXPECT_FALSE(pool_.Empty({-1}, kInt32).ok());
  EXPECT_FALSE(pool_.Empty({INT64_MAX, 2}, kInt32).ok());
  EXPECT_THAT(MessageOf(pool_.Empty({1 << 20}, kInt32).status()), HasSubstr("has no room"));
  EXPECT_EQ(UsedSlots(), 0u);
}

TEST_F(IpcPool, AnotherProcessMakesTensorsInThePool) {
  ChildProcess child([](Channel& parent) {
    const Pool pool = *Pool::Open(parent.Receive<std::string>());
    Tensor t = *pool.Empty({4}, kInt32);
    static_cast<int32_t*>(t.raw_data())[0] = 77;
    parent.Send(*pool.Share(t));
    parent.Receive<char>();
  });
  child.Send(pool_.name());
  const Tensor t = *Open(child.Receive<std::string>());
  child.Send('x');
  EXPECT_EQ(child.Join(), 0);
  EXPECT_EQ(static_cast<const int32_t*>(t.raw_data())[0], 77);
  EXPECT_TRUE(pool_.Share(t).ok());
  for (const std::string& name : {std::string(), std::string("x"), pool_.name() + "x"}) {
    EXPECT_EQ(Pool::Open(name).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Pool::Open(std::string(16, 'n')).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(IpcPool, TensorsOutliveThePoolAndItsCopies) {
  Tensor t;
  {
    const Pool pool = *Pool::Create({.nbytes = 1 << 16});
    const Pool copy = pool;
    t = *copy.Empty({4}, kInt32);
    EXPECT_TRUE(pool.Share(t).ok());
  }
  static_cast<int32_t*>(t.raw_data())[3] = 4;
  EXPECT_EQ(static_cast<const int32_t*>(Open(*Share(t))->raw_data())[3], 4);
}

TEST_F(IpcPool, AnIsolatedTensorIsSharedByItsPool) {
  const Tensor t = *pool_.Empty({100}, kInt32, {.isolated = true});
  EXPECT_EQ(UsedSlots(), 0u);
  EXPECT_EQ(Open(*pool_.Share(t))->raw_data(), t.raw_data());
  std::vector<int64_t> shape(Layout::kMaxRank, 1), strides(Layout::kMaxRank, 12345678);
  const Tensor wide = *Tensor::Make(t.storage(), 0, kInt32, *Layout::Strided(shape, strides), {});
  EXPECT_TRUE(Open(*pool_.Share(wide)).ok());
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
