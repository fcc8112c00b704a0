#include "dovetail/core/abi/convert.h"

#include <atomic>
#include <new>
#include <utility>

#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace abi {
namespace {

struct Boxed {
  std::atomic<int64_t> count{1};
  std::shared_ptr<void> pointer;
};
void Retain(void* box) { static_cast<Boxed*>(box)->count.fetch_add(1, std::memory_order_relaxed); }
void Release(void* box) {
  auto* boxed = static_cast<Boxed*>(box);
  if (boxed->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete boxed;
}

}  // namespace

void Message::Set(void* context, const char* text) noexcept {
  if (text == nullptr) return;
  DOVETAIL_TRY { static_cast<Message*>(context)->text_ = text; }
  DOVETAIL_CATCH(const std::bad_alloc&) {}
}

absl::Status Message::Of(int32_t code) const {
  if (code == 0) return absl::OkStatus();
  const bool is_known =
      code > 0 && code <= static_cast<int32_t>(absl::StatusCode::kUnauthenticated);
  return absl::Status(is_known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
                      text_.empty() ? "The backend gives no reason." : text_);
}

int32_t Report(const absl::Status& status, DovetailMessage* message) {
  if (!status.ok() && message != nullptr && message->set != nullptr) {
    message->set(message->context, std::string(status.message()).c_str());
  }
  return static_cast<int32_t>(status.code());
}

DovetailTensorView ToC(const TensorView& v) {
  return {.data = v.data,
          .byte_offset = v.byte_offset,
          .device = ToC(v.device),
          .type_code = static_cast<uint8_t>(v.dtype.kind),
          .bits = v.dtype.bits,
          .lanes = v.dtype.lanes,
          .read_only = v.access == Access::kReadOnly,
          .padded = v.packing == Packing::kPadded,
          .rank = v.rank(),
          .shape = v.shape.data(),
          .strides = v.strides.data()};
}

TensorView FromC(const DovetailTensorView& c) {
  TensorView v;
  v.data = c.data;
  v.byte_offset = c.byte_offset;
  v.device = FromC(c.device);
  v.dtype = {.kind = static_cast<TypeKind>(c.type_code), .bits = c.bits, .lanes = c.lanes};
  v.access = c.read_only != 0 ? Access::kReadOnly : Access::kReadWrite;
  v.packing = PackingOf(v.dtype, c.padded != 0 ? Packing::kPadded : Packing::kPacked);
  v.shape = {c.shape, static_cast<size_t>(c.rank)};
  v.strides = {c.strides, static_cast<size_t>(c.rank)};
  return v;
}

DovetailShared Box(std::shared_ptr<void> pointer) {
  if (pointer == nullptr) return {nullptr, nullptr, nullptr};
  auto* boxed = new Boxed;
  boxed->pointer = std::move(pointer);
  return {boxed, &Retain, &Release};
}

std::shared_ptr<void> Share(const DovetailShared& shared) {
  if (shared.object == nullptr) return nullptr;
  shared.retain(shared.object);
  return Adopt(shared);
}

std::shared_ptr<void> Adopt(const DovetailShared& shared) {
  if (shared.object == nullptr) return nullptr;
  return std::shared_ptr<void>(shared.object, shared.release);
}

DovetailStream BoxStream(const Stream& stream) {
  return {ToC(stream.device()), static_cast<uintptr_t>(stream.native()), Box(stream.owner())};
}

Stream ToStream(const DovetailStream& c) {
  const NativeStream handle{c.handle};
  if (c.owner.object == nullptr) return Stream::Borrow(FromC(c.device), handle);
  return Stream::Own(FromC(c.device), handle, Share(c.owner));
}

Stream AdoptStream(const DovetailStream& c) {
  const NativeStream handle{c.handle};
  if (c.owner.object == nullptr) return Stream::Borrow(FromC(c.device), handle);
  return Stream::Own(FromC(c.device), handle, Adopt(c.owner));
}

CStream::CStream(const Stream& stream) : c_(BoxStream(stream)) {}
CStream::~CStream() {
  if (c_.owner.object != nullptr) c_.owner.release(c_.owner.object);
}

// Also boxes a null state (of a backend whose events have always happened), so that a state that is
// passed over is never null.
DovetailEvent BoxEvent(const Event& event) {
  auto* boxed = new Boxed;
  boxed->pointer = event.shared_state();
  return {ToC(event.device()), {boxed, &Retain, &Release}};
}

Event UnboxEvent(const DovetailEvent& c) {
  return Event(FromC(c.device), static_cast<Boxed*>(c.state.object)->pointer);
}

namespace {

// The state of our Event that wraps an event of the other side.
struct Lent {
  explicit Lent(const DovetailShared& s) : shared(s) {}
  ~Lent() {
    if (shared.object != nullptr) shared.release(shared.object);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  DovetailShared shared;
};

}  // namespace

Event AdoptEvent(const DovetailEvent& c) {
  return Event(FromC(c.device), std::make_shared<Lent>(c.state));
}

DovetailEvent LendEvent(const Event& event) {
  return {ToC(event.device()), static_cast<const Lent*>(event.state())->shared};
}

CUses::CUses(const Uses& uses, const DeviceBackend& own) : held_(uses.events()) {
  for (const Uses::Use& use : uses.streams()) {
    if (!own.Serves(use.stream.device().type)) continue;
    streams_.push_back(BoxStream(use.stream));
    works_.push_back(use.kind == UseKind::kWork);
  }
  for (const Event& event : held_) {
    if (own.Serves(event.device().type)) events_.push_back(LendEvent(event));
  }
  c_ = {streams_.data(), works_.data(),  streams_.size(),
        events_.data(),  events_.size(), uses.has_unknown()};
}

CUses::~CUses() {
  for (const DovetailStream& stream : streams_) {
    if (stream.owner.object != nullptr) stream.owner.release(stream.owner.object);
  }
}

std::unique_ptr<Uses> ToUses(const DovetailUses* c) {
  if (c == nullptr) return nullptr;
  auto uses = std::make_unique<Uses>();
  for (size_t i = 0; i < c->stream_count; ++i) {
    uses->AddStream(ToStream(c->streams[i]),
                    c->stream_works[i] != 0 ? UseKind::kWork : UseKind::kOrder);
  }
  for (size_t i = 0; i < c->event_count; ++i) uses->AddEvent(UnboxEvent(c->events[i]));
  if (c->unknown != 0) uses->AddUnknown();
  return uses;
}

}  // namespace abi
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
