#include "dovetail/tests/emulator/emulator.h"

#include <cstring>
#include <functional>
#include <vector>

#include "dovetail/core/testing/child_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using emulator::Emulator;
using emulator::kAllocatedPoison;
using emulator::kFreedPoison;
using gpu::ResultClass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EmulatorTest : public testing::Test {
 protected:
  EmulatorTest() { api().push_device(api().self, 0, &previous_); }
  ~EmulatorTest() override { api().pop_device(api().self, previous_); }

  const gpu::RuntimeApi& api() { return gpu_.api(); }
  NativeStream NewStream() {
    NativeStream s{};
    EXPECT_EQ(api().stream_create(api().self, &s), 0);
    return s;
  }
  void* NewMemory(size_t nbytes) {
    void* p = nullptr;
    EXPECT_EQ(api().malloc_device(api().self, nbytes, &p), 0);
    return p;
  }
  unsigned char First(const void* p) { return gpu_.Peek(p, 1)[0]; }

  Emulator gpu_{{.devices = 2}};
  void* previous_ = nullptr;
};

TEST_F(EmulatorTest, WorkRunsOnlyWhenSomebodyWaitsForIt) {
  const NativeStream s = NewStream();
  void* p = NewMemory(16);
  ASSERT_EQ(api().fill_async(api().self, p, 7, 1, 16, s), 0);
  EXPECT_EQ(First(p), kAllocatedPoison);
  const NativeStream other = NewStream();
  api().stream_synchronize(api().self, other);
  EXPECT_EQ(First(p), kAllocatedPoison) << "nobody ordered the two";
  api().stream_synchronize(api().self, s);
  EXPECT_EQ(First(p), 7);
}

TEST_F(EmulatorTest, AFunctionFailsAfterAsManyCallsAsATestSays) {
  gpu::NativeEvent event;
  gpu_.Fail(emulator::Function::kEventCreate, ResultClass::kOutOfMemory, 1);
  EXPECT_EQ(api().event_create(api().self, gpu::kEventPlain, &event), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(api().classify(api().self, api().event_create(api().self, 0, &event)),
              ResultClass::kOutOfMemory);
  }
  EXPECT_EQ(gpu_.counts().event_creates, 1);
  gpu_.Fail(emulator::Function::kEventCreate, ResultClass::kOk);
  EXPECT_EQ(api().event_create(api().self, gpu::kEventPlain, &event), 0);
}

TEST_F(EmulatorTest, AStreamThatWaitsForAnEventRunsWhatWasRecorded) {
  const NativeStream a = NewStream(), b = NewStream();
  void* p = NewMemory(4);
  gpu::NativeEvent event;
  ASSERT_EQ(api().event_create(api().self, gpu::kEventPlain, &event), 0);
  api().fill_async(api().self, p, 1, 1, 4, a);
  api().event_record(api().self, event, a);
  api().fill_async(api().self, p, 2, 1, 4, a);
  api().stream_wait_event(api().self, b, event);
  EXPECT_EQ(First(p), kAllocatedPoison);
  api().stream_synchronize(api().self, b);
  EXPECT_EQ(First(p), 1) << "up to the event, and no further";
  EXPECT_EQ(api().event_query(api().self, event), 0);
}

TEST_F(EmulatorTest, QueriesAreAnsweredWithPatience) {
  const NativeStream s = NewStream();
  void* p = NewMemory(4);
  api().fill_async(api().self, p, 1, 1, 4, s);
  std::vector<gpu::Result> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(api().stream_query(api().self, s));
  const auto not_ready = static_cast<gpu::Result>(ResultClass::kNotReady);
  EXPECT_THAT(answers, ElementsAre(not_ready, not_ready, 0));
}

TEST_F(EmulatorTest, StreamsThatWaitForEachOtherInTurnAreQueriedInTimeThatGrowsWithTheirWork) {
  const NativeStream streams[] = {NewStream(), NewStream()};
  gpu::NativeEvent event;
  ASSERT_EQ(api().event_create(api().self, gpu::kEventPlain, &event), 0);
  for (int i = 0; i < 200; ++i) {  // the number of ways back from the last doubles with each
    api().event_record(api().self, event, streams[i % 2]);
    api().stream_wait_event(api().self, streams[1 - i % 2], event);
  }
  int queries = 1;
  while (api().stream_query(api().self, streams[0]) != 0) ASSERT_LT(++queries, 10);
}

TEST_F(EmulatorTest, AStreamThatIsHeldUpIsNeverReadyBeforeTheWordIsSet) {
  const NativeStream held = NewStream(), behind = NewStream(), free = NewStream();
  void* p = NewMemory(4);
  uint32_t word = 0;
  gpu_.Hold(held, 0, &word, 1);
  gpu_.Set(held, 0, p, 7, 4);
  gpu_.RecordAndWait(held, behind, 0);
  const auto not_ready = static_cast<gpu::Result>(ResultClass::kNotReady);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(api().stream_query(api().self, behind), not_ready);
  }
  EXPECT_EQ(api().stream_synchronize(api().self, free), 0);
  EXPECT_EQ(First(p), kAllocatedPoison);
  word = 1;
  EXPECT_EQ(api().stream_synchronize(api().self, behind), 0);
  EXPECT_EQ(First(p), 7);
}

TEST_F(EmulatorTest, MemoryThatIsPinnedIsWrittenInStreamOrder) {
  const NativeStream s = NewStream();
  void* p = NewMemory(4);
  std::vector<char> host(4096);
  gpu_.Pin(host.data(), host.size());
  api().fill_async(api().self, p, 7, 1, 4, s);
  api().copy_async(api().self, host.data(), p, 4, s);
  EXPECT_EQ(host[0], 0) << "the host did not wait";
  api().stream_synchronize(api().self, s);
  EXPECT_EQ(host[0], 7);
}

TEST_F(EmulatorTest, TheLegacyStreamWaitsForBlockingStreamsAlone) {
  void* p = NewMemory(8);
  const NativeStream blocking = gpu_.MakeStream(0, /*blocking=*/true), free = gpu_.MakeStream(0);
  gpu_.Set(blocking, 0, p, 1, 1);
  gpu_.Set(free, 0, static_cast<char*>(p) + 1, 1, 1);
  api().stream_synchronize(api().self, api().legacy_stream);
  EXPECT_THAT(gpu_.Peek(p, 2), ElementsAre(1, kAllocatedPoison));
}

TEST_F(EmulatorTest, ASeedLetsStreamsGoAhead) {
  Emulator eager({.seed = 5});
  const gpu::RuntimeApi& api = eager.api();
  void* previous;
  api.push_device(api.self, 0, &previous);
  NativeStream s{};
  void* p;
  api.stream_create(api.self, &s);
  api.malloc_device(api.self, 4, &p);
  api.fill_async(api.self, p, 9, 1, 4, s);
  int version, driver;
  for (int i = 0; i < 1000; ++i) api.runtime_version(api.self, &version, &driver);
  EXPECT_EQ(eager.Peek(p, 1)[0], 9);
  api.pop_device(api.self, previous);
}

using EmulatorDeathTest = EmulatorTest;
TEST_F(EmulatorDeathTest, TheHostCantTouchDeviceMemory) {
  auto* p = static_cast<volatile char*>(NewMemory(16));
  EXPECT_DEATH(p[0] = 1, "");
  EXPECT_DEATH(std::memset(const_cast<char*>(p), 0, 16), "");
}

TEST_F(EmulatorTest, FreesAreCheckedAndPoisoned) {
  void* p = NewMemory(16);
  EXPECT_EQ(First(p), kAllocatedPoison);
  EXPECT_EQ(api().free_device(api().self, p), 0);
  EXPECT_EQ(First(p), kFreedPoison);
  EXPECT_NE(api().free_device(api().self, p), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("freed before")));
  EXPECT_NE(api().fill_async(api().self, p, 0, 1, 16, api().legacy_stream), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("after it was freed")));
  EXPECT_EQ(NewMemory(16), p) << "reused as soon as may be";
  int mine;
  EXPECT_NE(api().free_host(api().self, &mine), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("no allocation")));
}

TEST_F(EmulatorTest, AFreeInStreamOrderThatDoesNotWaitForAnotherStreamIsSeen) {
  const NativeStream a = NewStream(), b = NewStream();
  void* p;
  ASSERT_EQ(api().malloc_async(api().self, 64, a, &p), 0);
  gpu_.RecordAndWait(a, b, 0);
  ASSERT_EQ(api().fill_async(api().self, p, 3, 1, 64, b), 0);
  ASSERT_EQ(api().free_async(api().self, p, a), 0);
  api().stream_synchronize(api().self, a);
  EXPECT_THAT(gpu_.Complaints(), IsEmpty());
  api().stream_synchronize(api().self, b);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("after its free had happened")));
}

TEST_F(EmulatorTest, MemoryUsedBeforeItsAllocationHappenedIsSeen) {
  const NativeStream a = NewStream(), b = NewStream();
  void* p;
  ASSERT_EQ(api().malloc_async(api().self, 64, a, &p), 0);
  api().fill_async(api().self, p, 3, 1, 64, b);
  api().stream_synchronize(api().self, b);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("before its allocation")));
}

TEST_F(EmulatorTest, APoolGivesMemoryToAnotherStreamInOrder) {
  const NativeStream a = NewStream(), b = NewStream();
  void *p, *q, *r;
  api().malloc_async(api().self, 64, a, &p);
  api().fill_async(api().self, p, 3, 1, 64, a);
  api().free_async(api().self, p, a);
  api().malloc_async(api().self, 64, a, &q);
  EXPECT_EQ(q, p);
  api().free_async(api().self, q, a);
  api().malloc_async(api().self, 64, b, &r);
  EXPECT_EQ(r, p);
  api().fill_async(api().self, r, 4, 1, 64, b);
  api().stream_synchronize(api().self, b);
  EXPECT_EQ(First(r), 4);
  EXPECT_THAT(gpu_.Complaints(), IsEmpty());
}

TEST_F(EmulatorTest, AStreamThatWasDestroyedOrIsOfAnotherDeviceIsRefused) {
  const NativeStream s = NewStream();
  api().stream_destroy(api().self, s);
  EXPECT_NE(api().stream_synchronize(api().self, s), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("destroyed before")));
  const NativeStream far = gpu_.MakeStream(1);
  void* p = NewMemory(4);
  EXPECT_NE(api().fill_async(api().self, p, 0, 1, 4, far), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("while device 0 is current")));
}

TEST_F(EmulatorTest, AnotherDevicesMemoryNeedsPeerAccess) {
  void* far = gpu_.Malloc(1, 16);
  EXPECT_NE(api().fill_async(api().self, far, 0, 1, 16, api().legacy_stream), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("no access")));
  EXPECT_EQ(api().peer_enable(api().self, 1), 0);
  EXPECT_EQ(api().classify(api().self, api().peer_enable(api().self, 1)),
            ResultClass::kPeerAlreadyEnabled);
  EXPECT_EQ(api().fill_async(api().self, far, 0, 1, 16, api().legacy_stream), 0);
}

TEST_F(EmulatorTest, APoolNeedsAccessOfItsOwnAndOtherPoolsGiveNone) {
  const NativeStream far = gpu_.MakeStream(1);
  void *previous, *pooled = nullptr;
  ASSERT_EQ(api().push_device(api().self, 1, &previous), 0);
  ASSERT_EQ(api().malloc_async(api().self, 16, far, &pooled), 0);
  api().pop_device(api().self, previous);
  gpu_.Finish();
  const auto fill = [this](void* data) {
    const bool filled = api().fill_async(api().self, data, 0, 1, 16, api().legacy_stream) == 0;
    EXPECT_EQ(gpu_.TakeComplaints().empty(), filled);
    return filled;
  };
  ASSERT_EQ(api().peer_enable(api().self, 1), 0);
  EXPECT_FALSE(fill(pooled));
  ASSERT_EQ(api().pool_allow_access(api().self, 1, 0), 0);
  EXPECT_TRUE(fill(pooled));
  EXPECT_TRUE(fill(gpu_.Malloc(1, 16)));
  void* const apart = gpu_.MallocApart(1, 16);
  EXPECT_FALSE(fill(apart));
  bool reach = true;
  EXPECT_EQ(api().peers_reach(api().self, apart, 1, &reach), 0);
  EXPECT_FALSE(reach);
}

TEST_F(EmulatorTest, APairOfDevicesCanBeWithoutAccessAndCanFail) {
  bool can = false;
  EXPECT_EQ(api().peer_can_access(api().self, 0, 1, &can), 0);
  EXPECT_TRUE(can);
  gpu_.FailPeer(0, 1, ResultClass::kOther);
  EXPECT_EQ(api().classify(api().self, api().peer_enable(api().self, 1)), ResultClass::kOther);
  gpu_.FailPeer(0, 1, ResultClass::kOk);
  gpu_.SetPeer(0, 1, false);
  EXPECT_EQ(api().peer_can_access(api().self, 0, 1, &can), 0);
  EXPECT_FALSE(can);
  EXPECT_NE(api().peer_enable(api().self, 1), 0);
  EXPECT_EQ(api().peer_can_access(api().self, 1, 0, &can), 0);
  EXPECT_TRUE(can) << "the other way";
  gpu_.SetPeer(0, 1, true);
  EXPECT_EQ(api().peer_enable(api().self, 1), 0);
}

TEST_F(EmulatorTest, WhatACaptureForbidsBreaksIt) {
  const NativeStream s = NewStream();
  void* p = NewMemory(4);
  gpu_.BeginCapture(s, 0);
  api().fill_async(api().self, p, 5, 1, 4, s);
  ASSERT_TRUE(gpu_.EndCapture(s, 0));
  gpu_.Finish();
  EXPECT_EQ(First(p), kAllocatedPoison) << "captured, not run";
  gpu_.LaunchLastGraph(s, 0);
  gpu_.Finish();
  EXPECT_EQ(First(p), 5);
  void* q;
  const std::vector<std::function<void()>> forbidden = {
      [&] { api().stream_query(api().self, s); },
      [&] { api().stream_synchronize(api().self, s); },
      [&] { api().device_synchronize(api().self); },
      [&] { api().fill_async(api().self, p, 6, 1, 4, api().legacy_stream); },
      [&] { api().malloc_device(api().self, 4, &q); },
      [&] { api().peer_enable(api().self, 1); },
  };
  for (const auto& call : forbidden) {
    gpu_.BeginCapture(s, 0);
    call();
    EXPECT_FALSE(gpu_.EndCapture(s, 0));
    EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("A capture was broken")));
  }
}

TEST_F(EmulatorTest, MemoryOfAnotherProcessIsTheSameUntilItIsClosed) {
  ChildProcess child([](Channel& parent) {
    Emulator gpu({.devices = 1});
    const gpu::RuntimeApi& api = gpu.api();
    void* previous;
    void* p;
    gpu::IpcHandle handle;
    api.push_device(api.self, 0, &previous);
    api.malloc_device(api.self, 16, &p);
    api.fill_async(api.self, p, 9, 1, 16, api.legacy_stream);
    gpu.Finish();
    parent.Send(api.ipc_memory_handle(api.self, static_cast<char*>(p) + 4, &handle));
    parent.Send(handle);
    parent.Receive<char>();
    parent.Send(gpu.Peek(p, 1)[0]);
  });
  ASSERT_EQ(child.Receive<gpu::Result>(), 0);
  const auto handle = child.Receive<gpu::IpcHandle>();
  void* p = nullptr;
  ASSERT_EQ(api().ipc_open(api().self, &handle, &p), 0);
  EXPECT_EQ(First(p), 9);
  EXPECT_EQ(api().fill_async(api().self, p, 4, 1, 16, api().legacy_stream), 0);
  gpu_.Finish();
  child.Send('x');
  EXPECT_EQ(child.Receive<unsigned char>(), 4);
  EXPECT_EQ(api().ipc_close(api().self, p), 0);
  EXPECT_NE(api().fill_async(api().self, p, 5, 1, 16, api().legacy_stream), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("after it was freed")));
  EXPECT_NE(api().ipc_close(api().self, p), 0);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("that is not open")));
}

TEST_F(EmulatorTest, AHandleOfThisProcessOrOfNoneIsRefused) {
  void* p = NewMemory(16);
  gpu::IpcHandle handle;
  ASSERT_EQ(api().ipc_memory_handle(api().self, p, &handle), 0);
  void* opened = nullptr;
  EXPECT_NE(api().ipc_open(api().self, &handle, &opened), 0);
  std::memset(handle.bytes, 0xFF, sizeof handle.bytes);
  EXPECT_NE(api().ipc_open(api().self, &handle, &opened), 0);
  void* pooled = nullptr;
  ASSERT_EQ(api().malloc_async(api().self, 16, api().legacy_stream, &pooled), 0);
  EXPECT_NE(api().ipc_memory_handle(api().self, pooled, &handle), 0);
}

}  // namespace
}  // namespace dovetail
