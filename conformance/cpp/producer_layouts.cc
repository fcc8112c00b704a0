// Where an exported struct says that the elements are: shape, strides, data and byte_offset.

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/exported.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

void ExpectExported(Check& c, const Managed& managed, const Elements& expected) {
  const Elements read = Read(c, managed);
  c.Expect(read == expected,
           Text("the struct leads to ", ToText(read), "; the array has ", ToText(expected)));
}

enum class How { kVersioned, kLegacy, kCopy };

Result<Managed> ExportBy(AnyArray& x, How how) {
  if (how == How::kCopy) return x.ExportCopy();
  return x.Export(how == How::kVersioned ? Kind::kVersioned : Kind::kLegacy);
}

// Exports arrays of every type that the library has, and compares their elements.
void LedTo(Check& c, How how, const Layout& layout) {
  const ArraySpec spec = SpecOf(layout);
  if (layout.view == View::kWhole && how != How::kCopy) {
    // A library for which no rule of this file applied would keep them all.
    c.Step("makes an array");
    Result<ArrayPtr> x = c.library().Make(spec);
    if (!x) {
      c.Broken(Text("Make() has to make a plain array of float32: ", FirstLine(x.refusal)));
    }
    const Result<Managed> managed = ExportBy(**x.value, how);
    if (!managed) c.Broken(Text("a plain array is not exported: ", FirstLine(managed.refusal)));
  }
  bool any = false;
  for (const DType& dtype : kDTypes) {
    const Elements base = Numbered(dtype);
    c.Step(Text("exports an array of ", dtype.name));
    Result<ArrayPtr> x = c.library().Make(SpecOf(base, layout));
    if (!x) continue;
    const Result<Managed> managed = ExportBy(**x.value, how);
    if (!managed) continue;
    any = true;
    c.Show(*managed.value);
    ExpectExported(c, *managed.value, ViewOf(base, layout));
  }
  if (!any) c.NotApplicable("the library has no such arrays, or exports none");
}

void Strides(Check& c, const Layout& layout) {
  const ArrayPtr x = Make(c, SpecOf(layout));
  const DLManagedTensorVersioned* const m = Export(c, *x, Kind::kVersioned).versioned();
  const bool older = m->version.major == 1 && m->version.minor < 2;
  c.Expect(
      m->dl_tensor.strides != nullptr || older,
      Text("strides are NULL in a struct of version ", m->version.major, ".", m->version.minor));
}

void Scalar(Check& c, Kind kind) {
  const Elements five = Floats({}, {5});
  const ArrayPtr x = Make(c, SpecOf(five));
  const Managed managed = Export(c, *x, kind);
  c.Expect(managed.tensor().ndim == 0, Text("ndim is ", managed.tensor().ndim));
  ExpectExported(c, managed, five);
}

void Empty(Check& c, Kind kind, const std::vector<int64_t>& shape) {
  const Elements none = Floats(shape, {});
  const ArrayPtr x = Make(c, SpecOf(none));
  const Managed managed = Export(c, *x, kind);
  ExpectExported(c, managed, none);
  c.Expect(managed.tensor().data == nullptr, Text("data is ", managed.tensor().data));
}

}  // namespace

void AddProducerLayouts(Checks& checks) {
  for (Kind kind : checks.exports()) {
    for (const Layout& layout : Layouts()) {
      if (!layout.has_word()) continue;
      const How how = kind == Kind::kVersioned ? How::kVersioned : How::kLegacy;
      checks.Add("producer.elements", kind, layout.name,
                 [how, &layout](Check& c) { LedTo(c, how, layout); });
      if (kind == Kind::kVersioned) {
        checks.Add("producer.elements", std::string("copy/") + layout.name,
                   [&layout](Check& c) { LedTo(c, How::kCopy, layout); });
        checks.Add("producer.strides", kind, layout.name,
                   [&layout](Check& c) { Strides(c, layout); });
      }
    }
    checks.Add("producer.scalar", kind, [kind](Check& c) { Scalar(c, kind); });
    checks.Add("producer.empty", kind, "one_dimension", [kind](Check& c) { Empty(c, kind, {0}); });
    checks.Add("producer.empty", kind, "two_dimensions",
               [kind](Check& c) { Empty(c, kind, {2, 0}); });
  }
}

}  // namespace dlpack_conformance
