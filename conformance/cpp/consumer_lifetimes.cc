// How a consumer ends: when and how often it calls the deleter, and what it writes.

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/empty.h"
#include "dlpack_conformance/exported.h"
#include "dlpack_conformance/lent.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

void ExpectOneDeletion(Check& c, const Lent& lent) {
  const int deleted = lent.DeletedSoon();
  c.Expect(deleted == 1, Text("the deleter is called ", deleted, " times"));
}

// Each handle is used until it dies. A library may also copy the elements and delete at once.
void Deletes(Check& c, Kind kind) {
  const Lent lent(c, kind, {});
  ArrayPtr y = TakeIfPossible(c, lent);
  c.Step("copies the array's handle");
  ArrayPtr z = y->Copy();
  if (z != nullptr) {
    c.Step("drops one of two handles");
    y.reset();
  } else {
    z = std::move(y);
  }
  ExpectElements(c, *z, Base());
  c.Step("drops the last handle");
  z.reset();
  ExpectOneDeletion(c, lent);
}

void DropsAndDeletes(Check& c, Kind kind, const LentFields& fields) {
  const Lent lent(c, kind, fields);
  ArrayPtr y = TakeIfPossible(c, lent);
  c.Step("drops the array");
  y.reset();
  ExpectOneDeletion(c, lent);
}

void NullContext(Check& c, Kind kind) {
  LentFields fields;
  fields.null_context = true;
  DropsAndDeletes(c, kind, fields);
}

void NullDeleter(Check& c, Kind kind) {
  LentFields fields;
  fields.null_deleter = true;
  const Lent lent(c, kind, fields);
  ArrayPtr y = TakeIfPossible(c, lent);
  c.Step("drops the array, whose deleter is NULL");
  y.reset();
}

LentFields ReadOnlyFields(bool flag) {
  LentFields fields;
  fields.flags = flag ? 1 : 0;
  return fields;
}

// Whether the library makes read-only arrays. Without them it should ignore the flag.
bool HasReadOnlyArrays(Check& c) {
  ArraySpec spec = SpecOf(Layouts()[0]);
  spec.read_only = true;
  c.Step("makes a read-only array");
  return static_cast<bool>(c.library().Make(spec));
}

void ReadOnlyIgnored(Check& c) {
  if (HasReadOnlyArrays(c)) c.NotApplicable("the library has read-only arrays");
  const Lent lent(c, Kind::kVersioned, ReadOnlyFields(true));
  ExpectElements(c, *MustTake(c, lent), Base());
  c.Kept();  // other rules speak of the end of the array
}

void ReadOnly(Check& c) {
  if (!HasReadOnlyArrays(c)) c.NotApplicable("the library has no read-only arrays");
  Lent lent(c, Kind::kVersioned, ReadOnlyFields(true));
  ArrayPtr y = TakeIfPossible(c, lent);
  lent.memory().ForbidWrites();
  c.Step("writes to the array");
  const Result<bool> written = y->Write();
  c.Kept(written ? "" : FirstLine(written.refusal));
}

void WritesNothing(Check& c, Kind kind, bool flag) {
  Lent lent(c, kind, ReadOnlyFields(flag));
  lent.memory().ForbidWrites();
  ArrayPtr y = TakeIfPossible(c, lent);
  ExpectElements(c, *y, Base());
  c.Kept();  // other rules speak of the end of the array
}

}  // namespace

void AddConsumerLifetimes(Checks& checks) {
  for (Kind kind : checks.imports()) {
    checks.Add("consumer.deletes", kind, [kind](Check& c) { Deletes(c, kind); });
    checks.Add("consumer.null-context", kind, [kind](Check& c) { NullContext(c, kind); });
    checks.Add("consumer.null-deleter", kind, [kind](Check& c) { NullDeleter(c, kind); });
    for (const EmptyCase& empty : kEmptyCases) {
      checks.Add("consumer.empty-deletes", kind, empty.name,
                 [=](Check& c) { DropsAndDeletes(c, kind, FieldsOf(empty)); });
    }
    if (kind == Kind::kLegacy) {
      checks.Add("consumer.writes-nothing", kind,
                 [kind](Check& c) { WritesNothing(c, kind, false); });
    }
    if (kind == Kind::kVersioned) {
      checks.Add("consumer.writes-nothing", kind,
                 [kind](Check& c) { WritesNothing(c, kind, true); });
      checks.Add("consumer.read-only", kind, ReadOnly);
      checks.Add("consumer.read-only-ignored", kind, ReadOnlyIgnored);
    }
  }
}

}  // namespace dlpack_conformance
