// Stream and Event: handles to the queues of a device.
//
//   Stream s = Stream::Default(Device::Cuda(0));
//   Stream t = Stream::Borrow(Device::Cuda(0), NativeStream{handle});   // another library's stream
//   backend->Wait(t, *backend->Record(s));                              // t waits for s
//   StreamScope scope(u);                                               // makes u current
//
// A Stream is a value: a device and the vendor's handle. It can't be made from 0, nullptr or a
// number by accident. A borrowed stream belongs to its creator and is used only during the call
// that it is passed to. A stream that a backend created has a counted owner and lives as long as
// any copy. Copies may be used on any thread. The CPU has one stream, which is trivially ordered:
// work is done when the call returns.

#ifndef DOVETAIL_CORE_STREAM_H_
#define DOVETAIL_CORE_STREAM_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// A vendor's stream handle (CUstream, hipStream_t) as a number.
enum class NativeStream : uintptr_t {};

class Stream {
 public:
  // The stream that the device's backend uses if none is named.
  static Stream Default(Device device) { return Stream(device, NativeStream{0}, nullptr); }
  // A stream that something else owns. It needs to live only during the calls that it is passed to.
  static Stream Borrow(Device device, NativeStream handle) {
    return Stream(device, handle, nullptr);
  }
  // A stream that lives as long as `owner` does (for backends).
  static Stream Own(Device device, NativeStream handle, std::shared_ptr<void> owner) {
    return Stream(device, handle, std::move(owner));
  }

  Device device() const { return device_; }
  NativeStream native() const { return handle_; }
  // Whether this Stream keeps the vendor's stream alive.
  bool is_owned() const { return owner_ != nullptr; }
  // What keeps the stream alive; nullptr if it is not owned.
  const std::shared_ptr<void>& owner() const { return owner_; }
  // Whether the handle stays valid as long as this Stream is kept: it is owned, or the default
  // stream.
  bool is_lasting() const { return is_owned() || handle_ == NativeStream{0}; }

  std::string ToString() const;

  // Equal if both are the same queue of the same device, whoever owns it.
  friend bool operator==(const Stream& a, const Stream& b) {
    return a.device_ == b.device_ && a.handle_ == b.handle_;
  }
  friend std::ostream& operator<<(std::ostream& os, const Stream& s) { return os << s.ToString(); }

 private:
  Stream(Device device, NativeStream handle, std::shared_ptr<void> owner)
      : device_(device), handle_(handle), owner_(std::move(owner)) {}

  Device device_;
  NativeStream handle_;
  std::shared_ptr<void> owner_;
};

// The stream on which this thread enqueues work if none is named: the one that it set last for the
// device, else Stream::Default. Pinned and managed host memory uses the streams of its vendor's
// first device.
Stream CurrentStream(Device device);

// Makes `stream` this thread's current stream on its device, and returns the previous one.
Stream ExchangeCurrentStream(Stream stream);

// Makes a stream current for the life of a scope, on the thread that made the scope. A borrowed
// stream must outlive the scope.
class [[nodiscard]] StreamScope {
 public:
  explicit StreamScope(Stream stream) : previous_(ExchangeCurrentStream(std::move(stream))) {}
  ~StreamScope() { ExchangeCurrentStream(std::move(previous_)); }
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  Stream previous_;
};

// A point in a stream's work that other streams or the host can wait for. DeviceBackend::Record
// makes it. Its state is private to the backend; copies share the state.
class Event {
 public:
  Event(Device device, std::shared_ptr<void> state) : device_(device), state_(std::move(state)) {}

  Device device() const { return device_; }
  void* state() const { return state_.get(); }
  const std::shared_ptr<void>& shared_state() const { return state_; }

 private:
  Device device_;
  std::shared_ptr<void> state_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_STREAM_H_
