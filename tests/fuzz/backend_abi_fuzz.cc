// Structs of backends (core/abi/backend_abi.h) of any version and size, with functions that are
// missing and functions that answer anything. A struct is taken exactly if it is whole, nothing
// beyond its size is read, and an error's code and text become a Status.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/abi/backend_abi.h"
#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr size_t kFunctions = offsetof(DovetailBackend, name);
constexpr size_t kLeast = offsetof(DovetailBackend, share_memory);

// What the functions of the struct answer from. Set for the length of one input.
Input* answers = nullptr;
int opened = 0, given_back = 0;
int boxes = 0;  // objects that were passed out and not yet released

int32_t Answer(DovetailMessage* message) {
  const int32_t code = answers->OneIn(2) ? static_cast<int32_t>(answers->Number()) : 0;
  if (code != 0 && answers->OneIn(2)) message->set(message->context, answers->Text(20).c_str());
  return code;
}

DovetailShared Box() {
  if (answers->OneIn(4)) return {};
  ++boxes;
  return {new int(1), [](void* object) { ++*static_cast<int*>(object); },
          [](void* object) {
            if (--*static_cast<int*>(object) != 0) return;
            delete static_cast<int*>(object);
            --boxes;
          }};
}

int32_t DeviceCount(void*, int32_t* count, DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code == 0) *count = static_cast<int32_t>(answers->Number());
  return code;
}

int32_t ShareMemory(void*, DovetailDevice device, void*, size_t, const DovetailUses*,
                    const DovetailStream*, DovetailMemoryShare* share, DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code != 0) return code;
  share->name_bytes =
      static_cast<size_t>(answers->OneIn(2) ? answers->Number() : answers->Between(0, 257));
  share->offset = answers->Number();
  share->has_until = answers->OneIn(2) ? 1 : 0;
  if (share->has_until != 0) share->until = {device, Box()};
  return 0;
}

int32_t OpenMemory(void*, int32_t type, const void*, size_t, DovetailOpenedMemory* memory,
                   DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code != 0) return code;
  ++opened;
  *memory = {.data = &opened,
             .nbytes = sizeof opened,
             .device = {type, static_cast<int32_t>(answers->Number())},
             .has_ready = answers->OneIn(2) ? 1 : 0,
             .release = [](void* count) { ++*static_cast<int*>(count); },
             .context = &given_back};
  if (memory->has_ready != 0) memory->ready = {memory->device, Box()};
  return 0;
}

int32_t CreateStream(void*, DovetailDevice device, DovetailStream* stream,
                     DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code == 0) *stream = {device, static_cast<uintptr_t>(answers->Number()), Box()};
  return code;
}

int32_t Record(void*, const DovetailStream* stream, DovetailEvent* event,
               DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code == 0) *event = {stream->device, Box()};
  return code;
}

int32_t PointerAttributes(void*, const void* data, DovetailPointerAttributes* attributes,
                          DovetailMessage* message) {
  const int32_t code = Answer(message);
  if (code == 0) {
    *attributes = {{static_cast<int32_t>(answers->Number()), 0},
                   static_cast<int32_t>(answers->Between(0, 4)),
                   const_cast<void*>(data),
                   static_cast<size_t>(answers->Number())};
  }
  return code;
}

// Of fills and casts. The views are read as they were passed.
void CheckView(const DovetailTensorView* view) {
  Require(view->rank == 1 && view->shape[0] == 1, "views pass as they are");
}
int32_t Fill(void*, const DovetailTensorView* dst, const void* element, const DovetailStream*,
             DovetailMessage* message) {
  CheckView(dst);
  const int32_t code = Answer(message);
  if (code == 0) std::memcpy(dst->data, element, 1);
  return code;
}
int32_t CastCopy(void*, const DovetailTensorView* dst, const DovetailTensorView* src,
                 const DovetailStream*, DovetailMessage* message) {
  CheckView(dst);
  CheckView(src);
  Require(dst->bits == 8 && src->bits == 16, "each side has its type");
  const int32_t code = Answer(message);
  if (code == 0) std::memcpy(dst->data, src->data, 1);
  return code;
}

int32_t Arange(void*, const DovetailTensorView* dst, const DovetailProgression* numbers,
               const DovetailStream*, DovetailMessage* message) {
  CheckView(dst);
  const int32_t code = Answer(message);
  if (code == 0) *static_cast<char*>(dst->data) = static_cast<char>(numbers->start);
  return code;
}

// `call` is 0 for a fill, 1 for a cast, 2 for numbers; `size` is the struct's.
void UseElements(DeviceBackend& backend, Device device, int64_t call, size_t size) {
  const int64_t one = 1;
  char to[1] = {}, from[2] = {5, 0};
  const auto view = [&](void* data, DType dtype) -> TensorView {
    return {
        .data = data, .device = device, .dtype = dtype, .shape = {&one, 1}, .strides = {&one, 1}};
  };
  const Stream stream = Stream::Default(device);
  const TensorView dst = view(to, kInt8);
  const absl::Status s = call == 0   ? backend.Fill(dst, from, stream)
                         : call == 1 ? backend.CastCopy(dst, view(from, kInt16), stream)
                                     : backend.Arange(dst, {.start = 5}, stream);
  const size_t end = offsetof(DovetailBackend, fill) + sizeof(void*) * (call + 1);
  if (s.ok()) {
    Require(size >= end, "a struct without the function does nothing");
    Require(to[0] == 5, "the element arrives");
  } else {
    Require(to[0] == 0, "an error writes nothing");
  }
}

void Use(Input& input, DeviceBackend& backend, size_t size) {
  const bool has_sharing = size >= kLeast + sizeof(void*);
  const Device device = Device::Cuda(static_cast<int>(input.Between(0, 3)));
  for (int calls = 0; calls < 8 && !input.ended(); ++calls) {
    switch (input.Between(0, 7)) {
      case 0:
        (void)backend.DeviceCount();
        break;
      case 1: {
        const absl::StatusOr<MemoryShare> share =
            backend.ShareMemory(device, &opened, sizeof opened, nullptr, Stream::Default(device));
        if (share.ok()) {
          Require(has_sharing, "a struct without the function shares nothing");
          Require(share->name.size() <= DOVETAIL_MOST_NAME_BYTES, "names are of their size");
        }
        break;
      }
      case 2: {
        const absl::StatusOr<OpenedMemory> memory = backend.OpenMemory(device.type, "name");
        if (!memory.ok()) break;
        Require(has_sharing, "a struct without the function opens nothing");
        memory->release.function(memory->release.context);
        break;
      }
      case 3: {
        const absl::StatusOr<Stream> stream = backend.CreateStream(device);
        if (stream.ok()) (void)backend.Record(*stream);
        break;
      }
      case 4: {
        const absl::StatusOr<Event> event = backend.Record(Stream::Default(device));
        if (event.ok()) (void)backend.Query(*event);
        break;
      }
      case 5:
      case 6:
        UseElements(backend, device, input.Between(0, 2), size);
        break;
      default:
        (void)backend.GetPointerAttributes(&opened);
    }
  }
}

void Try(Input& input) {
  answers = &input;
  opened = given_back = boxes = 0;
  FakeLog log;
  DovetailBackend* whole = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  DovetailBackend given = *whole;
  given.device_count = &DeviceCount;
  given.share_memory = &ShareMemory;
  given.open_memory = &OpenMemory;
  given.create_stream = &CreateStream;
  given.record = &Record;
  given.fill = &Fill;
  given.cast_copy = &CastCopy;
  given.arange = &Arange;
  given.pointer_attributes = &PointerAttributes;
  given.query = [](void*, const DovetailEvent*, int32_t* happened, DovetailMessage* message) {
    const int32_t code = Answer(message);
    if (code == 0) *happened = 1;
    return code;
  };
  bool is_whole = true;
  if (input.OneIn(4)) {
    given.major = static_cast<int32_t>(input.Between(0, 2));
    given.minor = static_cast<int32_t>(input.Number());
    is_whole &= given.major == DOVETAIL_BACKEND_ABI_MAJOR;
  }
  // The struct is a block of exactly the size that it tells.
  if (input.OneIn(2)) given.struct_size = static_cast<size_t>(input.Between(16, sizeof given + 64));
  is_whole &= given.struct_size >= kLeast;
  if (input.OneIn(4)) {
    constexpr size_t kCount = (sizeof given - kFunctions) / sizeof(void*);
    const size_t at = kFunctions + sizeof(void*) * input.Between(0, kCount - 1);
    std::memset(reinterpret_cast<char*>(&given) + at, 0, sizeof(void*));
    is_whole &= at >= kLeast;
  }
  void* block = std::calloc(1, given.struct_size);
  std::memcpy(block, &given, std::min(given.struct_size, sizeof given));
  {
    const absl::StatusOr<std::unique_ptr<DeviceBackend>> backend =
        ImportBackend(static_cast<const DovetailBackend*>(block));
    Require(backend.ok() == is_whole, "exactly whole structs are taken", backend.status());
    if (backend.ok()) {
      Use(input, **backend, given.struct_size);
    } else {
      Require(absl::IsInvalidArgument(backend.status()), "a refusal is InvalidArgument");
      Require(!log.destroyed, "a struct that is refused stays the caller's");
      whole->release(whole->self);
    }
  }
  Require(log.destroyed, "the backend ends with its struct");
  Require(boxes == 0, "each object that is passed out is released", boxes);
  Require(given_back == opened, "memory that is opened is given back", opened, given_back);
  std::free(block);
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  dovetail::fuzz::Try(input);
  return 0;
}
