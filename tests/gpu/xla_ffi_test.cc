// A handler of XLA's FFI on an emulated GPU, called as XLA calls it: by a call frame with a stream
// and a device.

#include <cstdint>
#include <vector>

#include "dovetail/interop/xla_ffi/buffer.h"
#include "dovetail/interop/xla_ffi/error.h"
#include "dovetail/interop/xla_ffi/stream.h"
#include "dovetail/tests/emulator/fixture.h"
#include "dovetail/tests/gpu/scenes.h"

namespace dovetail {
namespace {

namespace ffi = xla::ffi;
using ::testing::ElementsAre;

// Stands for cudaStream_t.
using GpuStream = struct GpuStreamHandle*;

// Copies the transposed argument into the result, on XLA's stream.
ffi::Error Transpose(GpuStream xla_stream, int32_t ordinal, ffi::AnyBuffer in,
                     ffi::Result<ffi::AnyBuffer> out) {
  const Stream stream = XlaStream(xla_stream, Device::Cuda(ordinal));
  const StreamScope scope(stream);
  const absl::StatusOr<Tensor> x = AsTensor(in, stream.device());
  absl::StatusOr<Tensor> y = AsTensor(out, stream.device());
  if (!x.ok() || !y.ok()) return ToFfiError(x.ok() ? y.status() : x.status());
  return ToFfiError(CopyInto(*y, *x->Transpose(0, 1)));
}

class XlaFfi : public EmulatedGpu {
 protected:
  // What XLA's context answers.
  struct Context {
    NativeStream stream;
    int32_t ordinal;
  };
  static Context* Of(XLA_FFI_ExecutionContext* ctx) { return reinterpret_cast<Context*>(ctx); }

  // Calls Transpose for int32 buffers. Null if it succeeded.
  static XLA_FFI_Error* Call(Context context, const Tensor& in, std::vector<int64_t> in_dims,
                             const Tensor& out, std::vector<int64_t> out_dims) {
    XLA_FFI_Api api = {.struct_size = XLA_FFI_Api_STRUCT_SIZE};
    api.XLA_FFI_Stream_Get = [](XLA_FFI_Stream_Get_Args* args) -> XLA_FFI_Error* {
      args->stream = reinterpret_cast<void*>(Of(args->ctx)->stream);
      return nullptr;
    };
    api.XLA_FFI_DeviceOrdinal_Get = [](XLA_FFI_DeviceOrdinal_Get_Args* args) -> XLA_FFI_Error* {
      args->device_ordinal = Of(args->ctx)->ordinal;
      return nullptr;
    };
    api.XLA_FFI_Error_Create = [](XLA_FFI_Error_Create_Args* args) {
      ADD_FAILURE() << args->message;
      return reinterpret_cast<XLA_FFI_Error*>(args);
    };
    auto buffer = [](const Tensor& t, std::vector<int64_t>& dims) {
      return XLA_FFI_Buffer{.struct_size = XLA_FFI_Buffer_STRUCT_SIZE,
                            .extension_start = nullptr,
                            .dtype = XLA_FFI_DataType_S32,
                            .data = t.raw_data(),
                            .rank = static_cast<int64_t>(dims.size()),
                            .dims = dims.data()};
    };
    XLA_FFI_Buffer arg = buffer(in, in_dims), ret = buffer(out, out_dims);
    void *args[] = {&arg}, *rets[] = {&ret};
    XLA_FFI_ArgType arg_types[] = {XLA_FFI_ArgType_BUFFER};
    XLA_FFI_RetType ret_types[] = {XLA_FFI_RetType_BUFFER};
    XLA_FFI_CallFrame frame = {
        .struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
        .extension_start = nullptr,
        .api = &api,
        .ctx = reinterpret_cast<XLA_FFI_ExecutionContext*>(&context),
        .stage = XLA_FFI_ExecutionStage_EXECUTE,
        .args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, 1, arg_types, args},
        .rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, 1, ret_types, rets},
        .attrs = {.struct_size = XLA_FFI_Attrs_STRUCT_SIZE},
    };
    XLA_FFI_DEFINE_HANDLER(handler, Transpose,
                           ffi::Ffi::Bind()
                               .Ctx<ffi::PlatformStream<GpuStream>>()
                               .Ctx<ffi::DeviceOrdinal>()
                               .Arg<ffi::AnyBuffer>()
                               .Ret<ffi::AnyBuffer>());
    return handler(&frame);
  }
};

TEST_F(XlaFfi, AHandlerCopiesOnTheStreamAndDeviceThatXlaNames) {
  const Tensor in = OnDevice(Counting({2, 3}), 1);
  const Tensor out = OnDevice(Counting({3, 2}), 1);
  gpu().Finish();
  const NativeStream stream = gpu().MakeStream(1);
  EXPECT_EQ(Call({stream, 1}, in, {2, 3}, out, {3, 2}), nullptr);
  const auto seen = [&] { return AsInts(gpu().Peek(out.raw_data(), 6 * sizeof(int32_t))); };
  EXPECT_THAT(seen(), ElementsAre(0, 1, 2, 3, 4, 5));  // nothing has waited for the stream
  const gpu::RuntimeApi& api = gpu().api();
  api.stream_synchronize(api.self, stream);
  EXPECT_THAT(seen(), ElementsAre(0, 3, 1, 4, 2, 5));
  gpu().DestroyStream(stream);
}

}  // namespace
}  // namespace dovetail
