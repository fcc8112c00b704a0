// Layouts and types that a consumer may refuse, but must not misread.

#include <memory>
#include <string>
#include <vector>

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/lent.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

void TakenOrRefused(Check& c, Kind kind, const LentFields& fields, const Elements& expected) {
  const Lent lent(c, kind, fields);
  const ArrayPtr y = TakeOrKeep(c, lent);
  ExpectElements(c, *y, expected);
  c.Kept();  // other rules speak of the end of the array
}

// Lends tensors of every type. Their byte_offset is `offset`; the offset of the layout is added to
// `data`.
void EveryType(Check& c, Kind kind, const Layout& layout, size_t offset) {
  // Neither ends before the process does: other rules speak of the end of an array.
  std::vector<std::unique_ptr<Lent>> lent;
  std::vector<ArrayPtr> taken;
  std::string refusal;
  for (const DType& dtype : kDTypes) {
    LentFields fields;
    fields.memory = Numbered(dtype);
    fields.dtype = dtype.dl();
    fields.shape = layout.shape;
    fields.strides = layout.strides;
    fields.data_at = static_cast<size_t>(layout.offset) * dtype.bits / 8;
    fields.at = fields.byte_offset = offset;
    lent.push_back(std::make_unique<Lent>(c, kind, fields));
    c.Step(Text("takes a tensor of ", dtype.name, " in"));
    Result<ArrayPtr> y = c.library().Import(lent.back()->managed());
    if (y) {
      taken.push_back(*std::move(y.value));
      ExpectElements(c, *taken.back(), ViewOf(fields.memory, layout));
    } else {
      refusal = FirstLine(y.refusal);
    }
  }
  c.Kept(refusal);
}

// The stride of the dimension of size 1 means nothing.
void UnusedStrides(Check& c, Kind kind, int64_t stride) {
  LentFields fields;
  fields.shape = {3, 1, 4};
  fields.strides = {4, stride, 1};
  Elements expected = Base();
  expected.shape = fields.shape;
  TakenOrRefused(c, kind, fields, expected);
}

void Misaligned(Check& c, Kind kind, size_t offset) {
  LentFields fields;
  fields.at = fields.data_at = offset;
  TakenOrRefused(c, kind, fields, Base());
}

void Type(Check& c, Kind kind, const DType& dtype) {
  LentFields fields;
  fields.memory = Numbered(dtype);
  fields.dtype = dtype.dl();
  TakenOrRefused(c, kind, fields, fields.memory);
}

}  // namespace

void AddConsumerLayouts(Checks& checks) {
  for (Kind kind : checks.imports()) {
    for (const Layout& layout : Layouts()) {
      checks.Add("consumer.strides", kind, layout.name,
                 [kind, &layout](Check& c) { EveryType(c, kind, layout, 0); });
      const bool is_plain = layout.has_word() && layout.view == View::kWhole;
      if (!is_plain && !layout.shape.empty()) continue;
      for (size_t offset : {16u, 64u, 256u}) {
        checks.Add("consumer.byte-offset", kind, std::to_string(offset) + "/" + layout.name,
                   [=, &layout](Check& c) { EveryType(c, kind, layout, offset); });
      }
    }
    checks.Add("consumer.unused-strides", kind, "large",
               [kind](Check& c) { UnusedStrides(c, kind, int64_t{1} << 61); });
    checks.Add("consumer.unused-strides", kind, "zero",
               [kind](Check& c) { UnusedStrides(c, kind, 0); });
    checks.Add("consumer.unused-strides", kind, "negative",
               [kind](Check& c) { UnusedStrides(c, kind, -5); });
    for (size_t offset : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      checks.Add("consumer.misaligned", kind, std::to_string(offset),
                 [=](Check& c) { Misaligned(c, kind, offset); });
    }
    for (const DType& dtype : kDTypes) {
      checks.Add("consumer.type", kind, dtype.name, [=](Check& c) { Type(c, kind, dtype); });
    }
  }
}

}  // namespace dlpack_conformance
