// The fields of __cuda_array_interface__ of any content, with and without backends whose functions
// answer anything. The owner is let go of exactly once, a valid description is taken unless the
// backend refuses, and what is exported again describes the same elements.

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/interop/buffer/strided.h"
#include "dovetail/interop/cuda_array/export.h"
#include "dovetail/interop/cuda_array/import.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

std::array<char, 4096> memory;

// A backend that answers from the input. It counts its errors.
class AnsweringGpu final : public FakeBackend {
 public:
  AnsweringGpu(DeviceType type, Input* input, FakeLog* log)
      : FakeBackend({type}, log), type_(type), input_(input), devices_(input->Between(0, 2)) {}

  absl::StatusOr<int> DeviceCount() override { return static_cast<int>(devices_); }
  absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t> code) override {
    if (Fails()) return absl::InvalidArgumentError("No such stream.");
    if (!code) return StreamRequest{Stream::Default(device)};
    return StreamRequest{FakeStream(device, static_cast<uintptr_t>(*code))};
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) override {
    if (Fails()) return absl::InternalError("No code.");
    if (stream == Stream::Default(stream.device())) return std::nullopt;
    return static_cast<int64_t>(stream.native());
  }
  absl::StatusOr<Event> Record(const Stream& stream) override {
    if (Fails()) return absl::InternalError("Not recorded.");
    return FakeBackend::Record(stream);
  }
  absl::Status Wait(const Stream& stream, const Event& event) override {
    if (Fails()) return absl::InternalError("Not waited.");
    return FakeBackend::Wait(stream, event);
  }
  void ReleaseAfter(std::unique_ptr<Uses>, Release release) noexcept override {
    release.function(release.context);
  }
  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) override {
    if (Fails()) return absl::NotFoundError("Not mine.");
    return PointerAttributes{Device{type_, static_cast<int>(input_->Between(0, 1))},
                             MemoryKind::kDevice, const_cast<void*>(data), 0};
  }

  int errors = 0;

 private:
  bool Fails() {
    const bool fails = input_->OneIn(6);
    errors += fails ? 1 : 0;
    return fails;
  }

  DeviceType type_;
  Input* input_;
  int64_t devices_;
};

struct Served {
  Served(DeviceType type, Input* input) {
    auto backend = std::make_unique<AnsweringGpu>(type, input, &log);
    gpu = backend.get();
    scope.emplace(std::move(backend));
  }
  FakeLog log;
  AnsweringGpu* gpu;
  std::optional<ScopedBackendOverride> scope;
};

struct Given {
  std::vector<int64_t> shape, strides;
  std::string typestr;
  CudaArrayDescription description;
};

void Draw(Input& input, Given* given) {
  const auto rank = static_cast<size_t>(input.Between(0, 4));
  for (size_t i = 0; i < rank; ++i) {
    given->shape.push_back(input.OneIn(12) ? input.Number() : input.Between(0, 5));
    given->strides.push_back(input.OneIn(12) ? input.Number() : 8 * input.Between(-4, 12));
  }
  constexpr const char* kTypes[] = {"<f4", "|u1", "<i8", "<c16", "|b1", "<f2", "<V2", ">i4"};
  given->typestr = input.OneIn(12) ? input.Text(8) : input.Pick(kTypes);
  if (input.OneIn(16)) given->strides.push_back(8);
  CudaArrayDescription& d = given->description;
  d.version = input.OneIn(8) ? input.Number() : input.Between(2, 3);
  if (input.OneIn(2)) d.stream = input.OneIn(3) ? input.Number() : input.Between(1, 3);
  d.array = {.typestr = given->typestr,
             .shape = given->shape,
             .data = input.OneIn(8) ? nullptr : memory.data() + 2048,
             .read_only = input.OneIn(2),
             .has_mask = input.OneIn(24)};
  if (input.OneIn(2)) d.array.strides = given->strides;
}

// What goes out again is the same memory, and its byte strides lead to the same elements.
void TryExport(const Tensor& tensor, const CudaArrayDescription& given, bool served) {
  const absl::StatusOr<CudaArrayExport> out = ExportCudaArray(tensor);
  if (!out.ok()) {
    Require(served, "without a backend, what came in goes out", out.status(), tensor);
    return;
  }
  std::vector<int64_t> strides(tensor.shape().size());
  FillByteStrides(tensor.layout(), tensor.dtype().itemsize(), strides.data());
  const ArrayDescription again = {.typestr = out->typestr,
                                  .shape = tensor.shape(),
                                  .strides = absl::MakeConstSpan(strides),
                                  .data = out->data,
                                  .read_only = tensor.is_read_only()};
  BufferLayout described;
  const absl::Status status = DescribeArray(again, &described);
  Require(status.ok(), "what is exported is valid", status, tensor);
  Require(described.dtype == tensor.dtype(), "the type is the same", tensor);
  if (tensor.num_elements() == 0) return;
  Require(out->data == given.array.data, "element 0 is where it was", tensor);
  Require(
      described.nbytes == tensor.storage()->nbytes() && described.data == tensor.storage()->data(),
      "the same bytes are reached", tensor);
  if (!served) Require(out->stream == given.stream, "the stream is handed on", tensor);
  if (out->stream) Require(*out->stream != 0, "0 is no stream", tensor);
}

void Try(Input& input) {
  std::optional<Served> cuda, rocm;
  if (input.OneIn(2)) cuda.emplace(DeviceType::kCuda, &input);
  if (input.OneIn(4)) rocm.emplace(DeviceType::kRocm, &input);
  Given given;
  Draw(input, &given);
  const CudaArrayDescription& d = given.description;
  int released = 0;
  {
    Tensor tensor;
    const absl::Status status =
        ImportCudaArray(d, {[](void* count) { ++*static_cast<int*>(count); }, &released}, &tensor);
    const int errors = (cuda ? cuda->gpu->errors : 0) + (rocm ? rocm->gpu->errors : 0);
    BufferLayout layout;
    const bool valid = d.version >= 2 && d.version <= 3 && (!d.stream || *d.stream > 0) &&
                       DescribeArray(d.array, &layout).ok();
    Require(released == (status.ok() ? 0 : 1), "what is refused is let go of at once", status);
    Require(tensor.is_null() != status.ok(), "there is a tensor or an error", status);
    if (!valid) Require(absl::IsInvalidArgument(status), "what is not valid is refused", status);
    if (valid && errors == 0) Require(status.ok(), "what is valid is taken", status);
    if (status.ok()) {
      Require(tensor.is_read_only() == d.array.read_only, "the access is that of the description");
      Require(tensor.layout().shape() == absl::MakeConstSpan(given.shape), "the shape is the same");
      TryExport(tensor, d, FindServing(tensor.device().type) != nullptr);
    }
  }
  Require(released == 1, "the owner is let go of exactly once", released);
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  dovetail::fuzz::Try(input);
  return 0;
}
