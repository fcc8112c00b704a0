// Layouts and types that a consumer may refuse, but must not misread.

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/lent.h"

namespace dlpack_conformance {
namespace {

void TakenOrRefused(Check& c, Kind kind, const LentFields& fields, const Elements& expected) {
  const Lent lent(c, kind, fields);
  const ArrayPtr y = TakeOrKeep(c, lent);
  ExpectElements(c, *y, expected);
  c.Kept();  // other rules speak of the end of the array
}

// Layouts of tensors alone, besides those that producers make, too.
const std::vector<Layout>& MoreLayouts() {
  static const auto* const layouts = new std::vector<Layout>{
      {"reversed_in_both", {}, {3, 4}, {-4, -1}, 11, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"three_dimensions", {}, {2, 2, 3}, {3, 6, 1}, 0, {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}},
  };
  return *layouts;
}

void Strides(Check& c, Kind kind, const Layout& layout) {
  LentFields fields;
  fields.shape = layout.shape;
  fields.strides = layout.strides;
  fields.data_at = static_cast<size_t>(layout.offset) * sizeof(float);
  TakenOrRefused(c, kind, fields, Floats(layout.shape, layout.values));
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

void ByteOffset(Check& c, Kind kind, size_t offset) {
  LentFields fields;
  fields.at = fields.byte_offset = offset;
  TakenOrRefused(c, kind, fields, Base());
}

void Misaligned(Check& c, Kind kind, size_t offset) {
  LentFields fields;
  fields.at = fields.data_at = offset;
  TakenOrRefused(c, kind, fields, Base());
}

void Type(Check& c, Kind kind, const DType& dtype) {
  LentFields fields;
  fields.memory = OneAndTwo(dtype);
  fields.dtype = dtype.dl();
  fields.shape = {2};
  fields.strides = {1};
  TakenOrRefused(c, kind, fields, fields.memory);
}

}  // namespace

void AddConsumerLayouts(Checks& checks) {
  for (Kind kind : checks.imports()) {
    for (const std::vector<Layout>* layouts : {&Layouts(), &MoreLayouts()}) {
      for (const Layout& layout : *layouts) {
        if (layout.view == View::kWhole && layouts == &Layouts()) continue;  // consumer.accepts
        checks.Add("consumer.strides", kind, layout.name,
                   [kind, &layout](Check& c) { Strides(c, kind, layout); });
      }
    }
    checks.Add("consumer.unused-strides", kind, "large",
               [kind](Check& c) { UnusedStrides(c, kind, int64_t{1} << 61); });
    checks.Add("consumer.unused-strides", kind, "zero",
               [kind](Check& c) { UnusedStrides(c, kind, 0); });
    checks.Add("consumer.unused-strides", kind, "negative",
               [kind](Check& c) { UnusedStrides(c, kind, -5); });
    for (size_t offset : {4u, 16u, 256u}) {
      checks.Add("consumer.byte-offset", kind, std::to_string(offset),
                 [=](Check& c) { ByteOffset(c, kind, offset); });
    }
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
