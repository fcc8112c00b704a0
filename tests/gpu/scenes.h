// Other libraries, as producers and consumers of memory, for tests of stream order and lifetime.
//
//   Consumer consumer(gpu(), device_index);
//   consumer.Take(*ToDLPack(t, {.stream = consumer.stream()}));
//   consumer.Read();                       // on its stream, as late as possible
//   consumer.DeleteTensor();
//   EXPECT_EQ(consumer.Seen(), …);

#ifndef DOVETAIL_TESTS_GPU_SCENES_H_
#define DOVETAIL_TESTS_GPU_SCENES_H_

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline constexpr int64_t kSceneElements = 256;
inline constexpr size_t kSceneBytes = kSceneElements * sizeof(int32_t);

// The elements of what an emulator's memory holds.
inline std::vector<int32_t> AsInts(const std::vector<unsigned char>& bytes) {
  std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// A library that reads a borrowed tensor into its own memory, on its own stream.
class Consumer {
 public:
  Consumer(emulator::Emulator& gpu, Device device, bool blocking = false)
      : gpu_(gpu),
        device_(device),
        handle_(gpu.MakeStream(device.index, blocking)),
        out_(gpu.Malloc(device.index, kSceneBytes)) {}

  Stream stream() const { return Stream::Borrow(device_, handle_); }
  int64_t code() const { return static_cast<int64_t>(handle_); }
  void Take(UniqueDLPack managed) { managed_ = std::move(managed); }
  void Read() { gpu_.CopyOn(handle_, device_.index, out_, managed_->dl_tensor.data, kSceneBytes); }
  void Write(int byte) {
    gpu_.Set(handle_, device_.index, managed_->dl_tensor.data, byte, kSceneBytes);
  }
  void DeleteTensor() { managed_.reset(); }
  void DestroyStream() { gpu_.DestroyStream(handle_); }
  // Runs the stream and the work that it waits for, and nothing else.
  void Synchronize() {
    const gpu::RuntimeApi& api = gpu_.api();
    api.stream_synchronize(api.self, handle_);
  }
  std::vector<int32_t> Seen() const { return AsInts(gpu_.Peek(out_, kSceneBytes)); }

 private:
  emulator::Emulator& gpu_;
  Device device_;
  NativeStream handle_;
  void* out_;
  UniqueDLPack managed_;
};

// A library that writes its own memory on its own stream and lends it.
class Producer {
 public:
  Producer(emulator::Emulator& gpu, Device device)
      : gpu_(gpu),
        device_(device),
        handle_(gpu.MakeStream(device.index)),
        data_(gpu.Malloc(device.index, kSceneBytes)) {}

  void Write(int byte) { gpu_.Set(handle_, device_.index, data_, byte, kSceneBytes); }
  // Like __dlpack__(stream=...): orders its work before the consumer's, unless a fault is on.
  DLManagedTensorVersioned* Lend(NativeStream consumer, bool orders = true) {
    if (orders) gpu_.RecordAndWait(handle_, consumer, device_.index);
    managed_.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed_.manager_ctx = this;
    managed_.deleter = [](DLManagedTensorVersioned* m) {
      auto* self = static_cast<Producer*>(m->manager_ctx);
      ++self->deleted_;
      // By the protocol, it may reuse the memory at once.
      self->gpu_.Free(self->data_);
    };
    managed_.dl_tensor = {.data = data_,
                          .device = {static_cast<DLDeviceType>(device_.type), device_.index},
                          .ndim = 1,
                          .dtype = {kDLInt, 32, 1},
                          .shape = shape_,
                          .strides = strides_,
                          .byte_offset = 0};
    return &managed_;
  }
  int deleted() const { return deleted_; }
  void* data() const { return data_; }

 private:
  emulator::Emulator& gpu_;
  Device device_;
  NativeStream handle_;
  void* data_;
  int deleted_ = 0;
  int64_t shape_[1] = {kSceneElements};
  int64_t strides_[1] = {1};
  DLManagedTensorVersioned managed_ = {};
};

// The int32 whose bytes are all `byte`.
inline int32_t Repeated(unsigned char byte) { return static_cast<int32_t>(0x01010101u * byte); }

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_GPU_SCENES_H_
