#include "dovetail/tests/emulator/host_kernel.h"

#include <cstdint>

#include "dovetail/tests/emulator/emulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using emulator::Emulator;
using emulator::HostKernel;
using emulator::HostParameter;
using gpu::Result;
using gpu::ResultClass;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A kernel of one thread: *p += value, if there is a p.
void Add(unsigned char* p, unsigned char value) {
  if (p != nullptr) *p = static_cast<unsigned char>(*p + value);
}
constexpr HostParameter kParameters[] = {{sizeof(unsigned char*), true}, {1, false}};
const HostKernel kAdd = {
    kParameters, 2, reinterpret_cast<void (*)()>(&Add),
    [](void (*function)(), const uint32_t grid[3], const uint32_t*, void** arguments) {
      for (uint32_t i = 0; i < grid[0]; ++i) {
        reinterpret_cast<void (*)(unsigned char*, unsigned char)>(function)(
            *static_cast<unsigned char**>(arguments[0]),
            *static_cast<unsigned char*>(arguments[1]));
      }
    }};

class HostKernelTest : public testing::Test {
 protected:
  HostKernelTest() { api().push_device(api().self, 0, &previous_); }
  ~HostKernelTest() override { api().pop_device(api().self, previous_); }

  const gpu::RuntimeApi& api() { return gpu_.api(); }
  ResultClass Launch(NativeStream stream, void* p, uint32_t blocks = 1, uint32_t threads = 1) {
    unsigned char value = 5;
    void* arguments[] = {&p, &value};
    const uint32_t grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
    const Result result =
        api().launch(api().self, const_cast<HostKernel*>(&kAdd), grid, block, 0, stream, arguments);
    return api().classify(api().self, result);
  }

  Emulator gpu_{{.devices = 2}};
  void* previous_ = nullptr;
};

TEST_F(HostKernelTest, RunsInTheOrderOfItsStreamWithTheArgumentsOfTheLaunch) {
  const NativeStream stream = gpu_.MakeStream(0), other = gpu_.MakeStream(0);
  void* p = gpu_.Malloc(0, 4);
  gpu_.Set(stream, 0, p, 1, 1);
  EXPECT_EQ(Launch(stream, p, /*blocks=*/3), ResultClass::kOk);
  api().stream_synchronize(api().self, other);
  EXPECT_EQ(gpu_.Peek(p, 1)[0], emulator::kAllocatedPoison);
  api().stream_synchronize(api().self, stream);
  EXPECT_THAT(gpu_.Peek(p, 1), ElementsAre(16));
  EXPECT_EQ(Launch(stream, nullptr), ResultClass::kOk);
  gpu_.Finish();
  EXPECT_THAT(gpu_.Complaints(), IsEmpty());
}

TEST_F(HostKernelTest, IsRefusedMemoryThatTheDeviceDoesNotReach) {
  unsigned char host = 0;
  EXPECT_EQ(Launch(api().legacy_stream, &host), ResultClass::kInvalidValue);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("none of the GPU's")));
  EXPECT_EQ(Launch(api().legacy_stream, gpu_.Malloc(1, 4)), ResultClass::kInvalidValue);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("no access to the memory of device 1")));
  void* freed = gpu_.Malloc(0, 4);
  gpu_.Free(freed);
  EXPECT_EQ(Launch(api().legacy_stream, freed), ResultClass::kInvalidValue);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("after it was freed")));
}

TEST_F(HostKernelTest, OnAStreamOfAnotherDeviceIsAnError) {
  EXPECT_EQ(Launch(gpu_.MakeStream(1), nullptr), ResultClass::kInvalidHandle);
  EXPECT_THAT(gpu_.TakeComplaints(), ElementsAre(HasSubstr("while device 0 is current")));
}

TEST_F(HostKernelTest, OfNoBlocksOrTooManyThreadsIsAnError) {
  EXPECT_EQ(Launch(api().legacy_stream, nullptr, /*blocks=*/0), ResultClass::kInvalidValue);
  EXPECT_EQ(Launch(api().legacy_stream, nullptr, 1, /*threads=*/0), ResultClass::kInvalidValue);
  EXPECT_EQ(Launch(api().legacy_stream, nullptr, 1, 1025), ResultClass::kInvalidValue);
  EXPECT_EQ(Launch(api().legacy_stream, nullptr, 1, 1024), ResultClass::kOk);
}

}  // namespace
}  // namespace dovetail
