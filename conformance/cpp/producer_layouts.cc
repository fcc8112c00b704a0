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

void LedTo(Check& c, Kind kind, const Layout& layout) {
  const ArraySpec spec = SpecOf(layout);
  if (layout.view == View::kWhole) {
    // A library for which no rule of this file applied would keep them all.
    c.Step("makes an array");
    Result<ArrayPtr> x = c.library().Make(spec);
    if (!x) {
      c.Broken(Text("Make() has to make a plain array of float32: ", FirstLine(x.refusal)));
    }
    const Result<Managed> managed = (*x.value)->Export(kind);
    if (!managed) c.Broken(Text("a plain array is not exported: ", FirstLine(managed.refusal)));
  }
  const ArrayPtr x = Make(c, spec);
  ExpectExported(c, Export(c, *x, kind), Floats(layout.shape, layout.values));
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
      checks.Add("producer.elements", kind, layout.name,
                 [kind, &layout](Check& c) { LedTo(c, kind, layout); });
      if (kind == Kind::kVersioned) {
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
