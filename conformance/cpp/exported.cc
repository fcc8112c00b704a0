#include "dlpack_conformance/exported.h"

#include "dlpack_conformance/text.h"

namespace dlpack_conformance {

ArraySpec SpecOf(const Elements& elements) {
  ArraySpec spec;
  spec.dtype = elements.dtype;
  spec.shape = elements.shape;
  spec.elements = elements.bytes.data();
  spec.view_shape = elements.shape;
  spec.view_strides = RowMajor(elements.shape);
  return spec;
}

ArraySpec SpecOf(const Layout& layout) {
  static const auto* const base = new Elements(Base());
  return SpecOf(*base, layout);
}

ArraySpec SpecOf(const Elements& base, const Layout& layout) {
  ArraySpec spec = SpecOf(base);
  spec.view = layout.view;
  spec.view_shape = layout.shape;
  spec.view_strides = layout.strides;
  spec.view_offset = layout.offset;
  return spec;
}

ArrayPtr Make(Check& c, const ArraySpec& spec) {
  c.Step("makes an array");
  Result<ArrayPtr> x = c.library().Make(spec);
  if (!x) c.NotApplicable(Text("the library has no such arrays: ", FirstLine(x.refusal)));
  return *std::move(x.value);
}

ArrayPtr MakePlain(Check& c) { return Make(c, SpecOf(Layouts()[0])); }

Managed Export(Check& c, AnyArray& x, Kind kind) {
  c.Step("exports an array");
  const Result<Managed> managed = x.Export(kind);
  if (!managed) c.NotApplicable(Text("the export is refused: ", FirstLine(managed.refusal)));
  c.Show(*managed.value);
  c.Step("goes on after the export");
  return *managed.value;
}

Managed ExportPlain(Check& c, Kind kind) { return Export(c, *MakePlain(c), kind); }

Elements Read(Check& c, const Managed& managed) {
  const DLTensor& t = managed.tensor();
  // Pinned and managed memory is of the CPU, too.
  const int device = t.device.device_type;
  constexpr int kCudaHost = 3, kRocmHost = 11, kCudaManaged = 13;
  if (device != kDLCPU && device != kCudaHost && device != kRocmHost && device != kCudaManaged) {
    c.NotApplicable(Text("the memory is on a device of type ", device));
  }
  c.Expect(t.ndim >= 0 && t.ndim <= 8, Text("ndim is ", t.ndim));
  c.Expect(t.ndim == 0 || t.shape != nullptr, "the shape is NULL");
  c.Step("reads the elements where the struct says that they are");
  return Gather(SeenIn(t));
}

}  // namespace dlpack_conformance
