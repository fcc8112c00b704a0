#include "dovetail/interop/arrow/stream.h"

#include <deque>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/arrow/error.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/owned.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// What a producer of nothing but arrays without elements gives before it is taken for endless.
constexpr int kMostEmptyArrays = 1 << 20;

absl::Status ProducerError(ArrowArrayStream* stream, int code) {
  const char* message =
      stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream);
  return absl::InternalError(absl::StrCat(
      "The producer of this Arrow stream failed: ", std::generic_category().message(code),
      message == nullptr ? "" : ": ", message == nullptr ? "" : message));
}

// Reads on to the next array with elements. `array` stays as it is if there is none.
absl::Status Next(ArrowArrayStream* stream, ArrowArray* array) {
  for (int i = 0; i < kMostEmptyArrays; ++i) {
    ArrowArray next = {};
    if (const int code = stream->get_next(stream, &next); code != 0) {
      return ProducerError(stream, code);
    }
    if (next.release == nullptr) return absl::OkStatus();
    OwnedArrow<ArrowArray> owned(&next);
    if (owned->length != 0) {
      *array = owned.Take();
      return absl::OkStatus();
    }
    if (ScopedInterruption::IsAsked()) {
      return absl::CancelledError("The reading of an Arrow stream was stopped before its end.");
    }
  }
  return ArrowError(absl::StrCat("its stream gave ", kMostEmptyArrays,
                                 " arrays without elements one after the other, and goes on; "
                                 "export the array with elements alone"));
}

// An array without elements of the type that a schema says.
class EmptyArray {
 public:
  explicit EmptyArray(const ArrowSchema& schema) {
    const ArrowSchema* level = &schema;
    for (int depth = 0; depth <= Layout::kMaxRank; ++depth) {
      ArrowArray& array = arrays_.emplace_back();
      array.n_buffers = level->n_children == 0 ? 2 : 1;
      array.buffers = const_cast<const void**>(kBuffers);
      array.release = [](ArrowArray* released) { released->release = nullptr; };
      if (level->n_children != 1 || level->children == nullptr || level->children[0] == nullptr) {
        break;
      }
      level = level->children[0];
      array.n_children = 1;
    }
    for (size_t i = 0; i + 1 < arrays_.size(); ++i) {
      arrays_[i].children = &children_.emplace_back(&arrays_[i + 1]);
    }
  }
  ArrowArray* get() { return &arrays_[0]; }

 private:
  static constexpr const void* kBuffers[2] = {};
  std::deque<ArrowArray> arrays_;
  std::deque<ArrowArray*> children_;
};

absl::StatusOr<Tensor> Import(ArrowArrayStream* stream) {
  if (stream->get_schema == nullptr) return ArrowError("its stream's get_schema is NULL");
  if (stream->get_next == nullptr) return ArrowError("its stream's get_next is NULL");
  OwnedArrow<ArrowSchema> schema;
  if (const int code = stream->get_schema(stream, schema.get()); code != 0) {
    return ProducerError(stream, code);
  }
  OwnedArrow<ArrowArray> first, second;
  absl::Status status = Next(stream, first.get());
  if (first->release != nullptr) status = Next(stream, second.get());
  if (!status.ok()) return status;
  if (second->release != nullptr) {
    return ArrowError(
        "it is in several pieces of memory, and a tensor is in one; combine them first, as with "
        "pyarrow's combine_chunks() or polars' rechunk()");
  }
  if (first->release != nullptr) return FromArrow(schema.get(), first.get());
  EmptyArray empty(*schema);
  return FromArrow(schema.get(), empty.get());
}

}  // namespace

absl::StatusOr<Tensor> FromArrow(ArrowArrayStream* stream) {
  OwnedArrow<ArrowArrayStream> owned(stream);
  if (owned->release == nullptr) {
    return ArrowError(
        "its stream was already released or consumed; ask the producer for a new one");
  }
  return Import(owned.get());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
