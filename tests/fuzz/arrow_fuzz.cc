// Arrow's C Data structs of any content: formats, lengths, offsets, null counts, children and the
// metadata of fixed shape tensors; streams of them, with errors; and exports of our own, edited.
// Each struct's release is called exactly once, and every element of a tensor that is made lies in
// the buffers.

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/arrow/c_data.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/stream.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr int64_t kMostBytes = 1 << 16;

// What a producer holds for one array and its children, in blocks of exactly their sizes.
struct Level {
  ArrowSchema schema = {};
  ArrowArray array = {};
  std::string format, metadata;
  std::unique_ptr<char[]> validity, values;
  const void* buffers[2] = {};
  ArrowSchema* schema_child = nullptr;
  ArrowArray* array_child = nullptr;
  int schema_releases = 0, array_releases = 0;
};

template <typename Struct, int Level::* kCount>
void Release(Struct* released) {
  ++(static_cast<Level*>(released->private_data)->*kCount);
  released->release = nullptr;
}

// Metadata of one or two keys, as ArrowSchema has them; lengths are right.
std::string Metadata(Input& input) {
  if (input.OneIn(2)) {
    FixedShape shape;
    for (int64_t rank = input.Between(0, 3); rank > 0; --rank) {
      shape.shape.push_back(input.OneIn(4) ? input.Number() : input.Between(0, 4));
    }
    if (input.OneIn(2)) {
      for (size_t i = 0; i < shape.shape.size(); ++i) {
        shape.permutation.push_back(input.Between(0, 3));
      }
    }
    return FixedShapeMetadata(shape);
  }
  std::string metadata;
  const auto number = [&](size_t n) {
    const auto value = static_cast<int32_t>(n);
    metadata.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::string json = input.Text(120);
  number(2);
  for (const std::string& text :
       {std::string("ARROW:extension:name"), std::string("arrow.fixed_shape_tensor"),
        std::string("ARROW:extension:metadata"), json}) {
    number(text.size());
    metadata += text;
  }
  return metadata;
}

std::unique_ptr<char[]> Block(int64_t count, int64_t bits) {
  const __int128 bytes = (static_cast<__int128>(count) * bits + 7) / 8;
  if (count < 0 || bytes > kMostBytes) return nullptr;
  auto block = std::make_unique<char[]>(static_cast<size_t>(bytes));
  std::memset(block.get(), 0xff, static_cast<size_t>(bytes));
  return block;
}

void Draw(Input& input, int depth, Level* level) {
  constexpr const char* kFormats[] = {"c", "C", "s", "S", "i", "I", "l", "L",
                                      "e", "f", "g", "b", "u", "n", "+l"};
  constexpr int kWidths[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 1, 8, 8, 8};
  const int64_t which = input.Between(0, 14);
  level->format = kFormats[which];
  const bool is_list = depth > 0;
  if (is_list)
    level->format = "+w:" + std::to_string(input.OneIn(6) ? input.Number() : input.Between(0, 4));
  if (input.OneIn(12)) level->format = input.Text(12);
  if (input.OneIn(4)) level->metadata = Metadata(input);
  ArrowSchema& schema = level->schema;
  schema.format = level->format.c_str();
  schema.name = "";
  schema.metadata = level->metadata.empty() ? nullptr : level->metadata.data();
  schema.flags = input.Between(0, 7);
  schema.n_children = is_list ? 1 : 0;
  schema.children = is_list ? &level->schema_child : nullptr;
  schema.release = &Release<ArrowSchema, &Level::schema_releases>;
  schema.private_data = level;

  ArrowArray& array = level->array;
  array.length = input.OneIn(12) ? input.Number() : input.Between(0, 24);
  array.offset = input.OneIn(12) ? input.Number() : input.OneIn(3) ? input.Between(0, 5) : 0;
  array.null_count = input.OneIn(6) ? input.Number() : input.Between(-1, 0);
  array.n_buffers = is_list ? 1 : 2;
  array.n_children = schema.n_children;
  array.children = is_list ? &level->array_child : nullptr;
  array.buffers = level->buffers;
  array.release = &Release<ArrowArray, &Level::array_releases>;
  array.private_data = level;
  int64_t end = 0;
  if (__builtin_add_overflow(array.length, array.offset, &end)) end = -1;
  level->validity = Block(end, 1);
  // What a text format is, is not known: then there is as much as any number takes.
  const bool known = !is_list && level->format == kFormats[which];
  level->values = Block(end, known ? kWidths[which] : 64);
  if (level->validity != nullptr && end > 0 && input.OneIn(8))
    level->validity[0] = input.Any<char>();
  if (input.OneIn(2)) level->buffers[0] = level->validity.get();
  level->buffers[1] = level->values.get();

  if (!input.OneIn(12)) return;
  switch (input.Between(0, 8)) {
    case 0:
      schema.n_children = input.Between(0, 1) == 0 ? 0 : -1;
      break;
    case 1:
      array.n_children = input.Between(0, 1) == 0 ? 0 : -1;
      break;
    case 2:
      array.n_buffers = input.Number();
      break;
    case 3:
      array.buffers = nullptr;
      break;
    case 4:
      schema.format = nullptr;
      break;
    case 5:
      array.dictionary = &array;
      break;
    case 6:
      schema.dictionary = &schema;
      break;
    case 7:
      schema.children = nullptr;
      break;
    default:
      array.children = nullptr;
  }
}

// Changes an export as another library may, so that it claims no more memory than there is.
void Edit(Input& input, ArrowSchema* schema, ArrowArray* array) {
  switch (input.Between(0, 5)) {
    case 0:
      array->offset = input.Between(0, array->length);
      array->length -= array->offset;
      break;
    case 1:
      array->length = input.Between(-2, array->length);
      break;
    case 2:
      array->null_count = input.Number();
      break;
    case 3:
      array->n_buffers = input.Between(-1, 3);
      break;
    case 4:
      schema->metadata = nullptr;
      break;
    default:
      schema->flags = input.Number();
  }
}

void TryTensor(Input& input, const Tensor& tensor) {
  if (tensor.nbytes() > kMostBytes) return;
  const absl::StatusOr<Tensor> copy = Copied(tensor);  // reads every element
  Require(copy.ok(), "a tensor is copied", copy.status());
  if (tensor.rank() == 0) return;
  constexpr ArrowNesting kNestings[] = {ArrowNesting::kLists, ArrowNesting::kFlatLists,
                                        ArrowNesting::kFixedShapeTensor};
  const ArrowNesting nesting = input.Pick(kNestings);
  ArrowSchema schema;
  ArrowArray array;
  const absl::Status status = ToArrow(*copy, &schema, &array, {.nesting = nesting});
  if (!status.ok()) return;
  const bool edited = input.OneIn(2);
  if (edited) Edit(input, &schema, &array);
  const absl::StatusOr<Tensor> back = FromArrow(&schema, &array);
  if (edited) {
    Require(back.ok() || absl::IsInvalidArgument(back.status()), "a refusal is InvalidArgument",
            back.status());
    if (back.ok()) Require(Copied(*back).ok(), "what is taken again is read", *back);
    return;
  }
  Require(back.ok(), "what is exported is imported", back.status(), *copy);
  Require(back->dtype() == copy->dtype(), "a round trip keeps the type", *copy, *back);
  if (nesting != ArrowNesting::kFlatLists) {
    Require(back->shape() == copy->shape(), "a round trip keeps the shape", *copy, *back);
  }
}

// An array and its children, or a type.
struct Tree {
  std::deque<Level> levels;
  Level& root() { return levels[0]; }

  void Draw(Input& input, int depth) {
    levels.resize(static_cast<size_t>(depth) + 1);
    for (int i = 0; i <= depth; ++i) {
      fuzz::Draw(input, depth - i, &levels[i]);
      if (i == 0 || input.OneIn(24)) continue;
      levels[i - 1].schema_child = &levels[i].schema;
      levels[i - 1].array_child = &levels[i].array;
    }
  }
  void RequireChildrenKept() const {
    for (size_t i = 1; i < levels.size(); ++i) {
      Require(levels[i].array_releases == 0 && levels[i].schema_releases == 0,
              "children are their parents' to release");
    }
  }
};

void TryArray(Input& input, int depth) {
  Tree tree;
  tree.Draw(input, depth);
  // The consumer may move the structs; the children stay where they are.
  Level& root = tree.root();
  const bool on_device = input.OneIn(4);
  {
    absl::StatusOr<Tensor> tensor = absl::UnknownError("");
    if (on_device) {
      ArrowDeviceArray device = {
          .array = root.array,
          .device_id = input.OneIn(4) ? input.Number() : -1,
          .device_type = static_cast<int32_t>(input.OneIn(4) ? input.Between(-1, 20) : 1)};
      root.array.release = nullptr;
      tensor = FromArrow(&root.schema, &device);
      Require(device.array.release == nullptr, "the array is moved from");
    } else {
      tensor = FromArrow(&root.schema, &root.array);
    }
    Require(root.schema.release == nullptr && root.array.release == nullptr,
            "both structs are moved from");
    Require(root.schema_releases == 1, "the schema is released at once");
    Require(root.array_releases == (tensor.ok() ? 0 : 1), "what is refused is released");
    if (!tensor.ok()) {
      Require(absl::IsInvalidArgument(tensor.status()), "a refusal is InvalidArgument",
              tensor.status());
    } else {
      Require(tensor->is_read_only(), "Arrow's data are read-only");
      if (tensor->device() == Device::Cpu()) TryTensor(input, *tensor);
    }
  }
  Require(root.array_releases == 1 && root.schema_releases == 1, "each is released once");
  tree.RequireChildrenKept();
}

// What a producer's stream gives: a type, arrays and errors.
struct Producer {
  Tree type;
  std::deque<Tree> arrays;
  size_t given = 0;  // arrays
  bool gave_type = false;
  int type_error = 0, error = 0;
  const char* message = nullptr;
  int releases = 0;
  ArrowArrayStream stream = {&GetSchema, &GetNext, &GetLastError, &Release, this};

  static Producer* Of(ArrowArrayStream* stream) {
    return static_cast<Producer*>(stream->private_data);
  }
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
    Producer* self = Of(stream);
    if (self->type_error != 0) return self->type_error;
    self->gave_type = true;
    *out = self->type.root().schema;
    return 0;
  }
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
    Producer* self = Of(stream);
    out->release = nullptr;
    if (self->given == self->arrays.size()) return self->error;
    *out = self->arrays[self->given++].root().array;
    return 0;
  }
  static const char* GetLastError(ArrowArrayStream* stream) { return Of(stream)->message; }
  static void Release(ArrowArrayStream* stream) {
    ++Of(stream)->releases;
    stream->release = nullptr;
  }
};

void TryStream(Input& input, int depth) {
  Producer producer;
  if (input.OneIn(8)) producer.type_error = static_cast<int>(input.Between(1, 40));
  if (input.OneIn(4)) producer.error = static_cast<int>(input.Between(1, 40));
  if (input.OneIn(2)) producer.message = "broken";
  producer.type.Draw(input, depth);
  producer.arrays.resize(static_cast<size_t>(input.Between(0, 3)));
  for (Tree& tree : producer.arrays) {
    tree.Draw(input, depth);
    if (input.OneIn(2)) tree.root().array.length = 0;
    // An array of another format may have buffers that are too small for the stream's elements, so
    // it has none.
    if (tree.levels.back().format != producer.type.levels.back().format) {
      tree.root().array.length = std::min<int64_t>(tree.root().array.length, 0);
    }
  }
  {
    const absl::StatusOr<Tensor> tensor = FromArrow(&producer.stream);
    Require(producer.releases == 1 && producer.stream.release == nullptr,
            "the stream is released at once");
    if (tensor.ok()) {
      Require(tensor->is_read_only(), "Arrow's data are read-only");
      if (tensor->device() == Device::Cpu()) TryTensor(input, *tensor);
    } else {
      const bool failed = producer.type_error != 0 || producer.error != 0;
      Require(
          absl::IsInvalidArgument(tensor.status()) || (failed && absl::IsInternal(tensor.status())),
          "a refusal is InvalidArgument, and a producer's error Internal", tensor.status());
    }
  }
  Require(producer.type.root().schema_releases == (producer.gave_type ? 1 : 0),
          "the type is released once");
  for (size_t i = 0; i < producer.arrays.size(); ++i) {
    Require(producer.arrays[i].root().array_releases == (i < producer.given ? 1 : 0),
            "each array that was given is released once");
    producer.arrays[i].RequireChildrenKept();
  }
}

void Try(Input& input) {
  const int64_t which = input.Between(0, 7);
  const int depth = static_cast<int>(which % 4);
  which < 4 ? TryArray(input, depth) : TryStream(input, depth);
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const absl::Status registered = dovetail::RegisterCpuBackend(dovetail::Registry::Global());
  dovetail::fuzz::Require(registered.ok(), "the CPU has a backend");
  dovetail::fuzz::Input input(data, size);
  dovetail::fuzz::Try(input);
  return 0;
}
