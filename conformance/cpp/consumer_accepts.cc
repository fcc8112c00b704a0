// What a consumer has to take in.

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/empty.h"
#include "dlpack_conformance/lent.h"

namespace dlpack_conformance {
namespace {

void MustTakeIn(Check& c, Kind kind, const LentFields& fields, const Elements& expected) {
  const Lent lent(c, kind, fields);
  const ArrayPtr y = MustTake(c, lent);
  ExpectElements(c, *y, expected);
  c.Kept();  // other rules speak of the end of the array
}

void Minor(Check& c) {
  LentFields fields;
  fields.version = {1, 99};
  MustTakeIn(c, Kind::kVersioned, fields, Base());
}

void Scalar(Check& c, Kind kind, bool null) {
  LentFields fields;
  fields.memory = Floats({}, {5});
  fields.shape = fields.strides = {};
  fields.null_shape = fields.null_strides = null;
  MustTakeIn(c, kind, fields, fields.memory);
}

void NullStrides(Check& c, Kind kind) {
  LentFields fields;
  fields.null_strides = true;
  fields.version = {1, 0};
  MustTakeIn(c, kind, fields, Base());
}

}  // namespace

void AddConsumerAccepts(Checks& checks) {
  for (Kind kind : checks.imports()) {
    checks.Add("consumer.accepts", kind, [kind](Check& c) { MustTakeIn(c, kind, {}, Base()); });
    if (kind == Kind::kVersioned) checks.Add("consumer.minor", kind, Minor);
    checks.Add("consumer.scalar", kind, "NULL", [kind](Check& c) { Scalar(c, kind, true); });
    checks.Add("consumer.scalar", kind, "not_NULL", [kind](Check& c) { Scalar(c, kind, false); });
    checks.Add("consumer.null-strides", kind, [kind](Check& c) { NullStrides(c, kind); });
    for (const EmptyCase& empty : kEmptyCases) {
      checks.Add("consumer.empty", kind, empty.name, [=](Check& c) {
        MustTakeIn(c, kind, FieldsOf(empty), Floats(FieldsOf(empty).shape, {}));
      });
    }
  }
}

}  // namespace dlpack_conformance
