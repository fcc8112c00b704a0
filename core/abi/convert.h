// Conversions between the types of core/abi/backend_abi.h and core's types, in both directions.
//
//   CStream c(stream);                    // passed in: borrowed for the call
//   backend->record(self, c.get(), &event, &message);
//   return ToEvent(event);                // passed out: taken over
//
// Objects keep their identity: a shared pointer that is passed over and back is the same pointer
// again, since a box around it is passed.

#ifndef DOVETAIL_CORE_ABI_CONVERT_H_
#define DOVETAIL_CORE_ABI_CONVERT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/core/abi/backend_abi.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/core/uses.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace abi {

// ---- Errors ----

// Receives the error message of a call.
class Message {
 public:
  Message() : c_{this, &Set} {}
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  DovetailMessage* get() { return &c_; }
  // The status of a call that returned `code`.
  absl::Status Of(int32_t code) const;

 private:
  static void Set(void* context, const char* text) noexcept;
  DovetailMessage c_;
  std::string text_;
};

// The code of a status. Passes the status's text to `message`, unless that is null.
int32_t Report(const absl::Status& status, DovetailMessage* message);

// ---- Devices and views ----

inline DovetailDevice ToC(Device d) { return {static_cast<int32_t>(d.type), d.index}; }
inline Device FromC(DovetailDevice d) { return {static_cast<DeviceType>(d.type), d.index}; }
DovetailTensorView ToC(const TensorView& view);  // borrows `view`'s shape and strides
TensorView FromC(const DovetailTensorView& view);

// ---- Shared objects ----

// Boxes a shared pointer, with one reference; a null pointer gives a null object.
DovetailShared Box(std::shared_ptr<void> pointer);
// The other side's object as a shared pointer; takes a new reference.
std::shared_ptr<void> Share(const DovetailShared& shared);
// The same, but takes over the caller's reference.
std::shared_ptr<void> Adopt(const DovetailShared& shared);

// A stream as a C struct for the duration of a call.
class CStream {
 public:
  explicit CStream(const Stream& stream);
  ~CStream();
  CStream(const CStream&) = delete;
  CStream& operator=(const CStream&) = delete;
  const DovetailStream* get() const { return &c_; }

 private:
  DovetailStream c_;
};

// An event's state is either a box of this side's event or an object of the other side.
DovetailEvent BoxEvent(const Event& event);    // boxes our event, with one reference
Event UnboxEvent(const DovetailEvent& event);  // the event in a box
Event AdoptEvent(const DovetailEvent& event);  // takes over the other side's event
DovetailEvent LendEvent(const Event& event);   // borrows an event that AdoptEvent made

Stream ToStream(const DovetailStream& stream);     // borrowed
Stream AdoptStream(const DovetailStream& stream);  // taken over
DovetailStream BoxStream(const Stream& stream);    // one reference

// Uses as a C struct for the duration of a call, with events as LendEvent gives them. Without the
// work of other backends than `own`, whose events have another state: the host waits for it.
class CUses {
 public:
  CUses(const Uses& uses, const DeviceBackend& own);
  ~CUses();
  CUses(const CUses&) = delete;
  CUses& operator=(const CUses&) = delete;
  const DovetailUses* get() const { return &c_; }

 private:
  std::vector<DovetailStream> streams_;
  std::vector<int32_t> works_;
  std::vector<DovetailEvent> events_;
  Uses::EventList held_;
  DovetailUses c_;
};

// With events as UnboxEvent gives them. nullptr for nullptr.
std::unique_ptr<Uses> ToUses(const DovetailUses* uses);

}  // namespace abi
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ABI_CONVERT_H_
