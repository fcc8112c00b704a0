// The fields of an exported struct: device, version, flags, element type.

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/describe.h"
#include "dlpack_conformance/exported.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

void DeviceId(Check& c, Kind kind) {
  const DLDevice device = ExportPlain(c, kind).tensor().device;
  if (device.device_type != kDLCPU) {
    c.NotApplicable(
        Text("the memory is on a device of type ", static_cast<int>(device.device_type)));
  }
  c.Expect(device.device_id == 0, Text("the device id is ", device.device_id));
}

void Version(Check& c) {
  const DLPackVersion version = ExportPlain(c, Kind::kVersioned).versioned()->version;
  c.Expect(version.major == 1, Text("the struct says version ", version.major, ".", version.minor));
}

void Flags(Check& c) {
  const ArrayPtr x = MakePlain(c);
  const uint64_t flags = Export(c, *x, Kind::kVersioned).versioned()->flags;
  c.Expect((flags & ~(kReadOnly | kIsCopied)) == 0, Text("the flags are ", flags));
  if ((flags & kReadOnly) == 0) return;
  c.Step("writes to the array");
  if (x->Write()) c.Broken(Text("the flags of an array that can be written are ", flags));
}

void CopiedOnly(Check& c) {
  const ArrayPtr x = MakePlain(c);
  const Managed first = Export(c, *x, Kind::kVersioned);
  const Managed second = Export(c, *x, Kind::kVersioned);
  const uint64_t flags = second.versioned()->flags;
  c.Expect((flags & kIsCopied) == 0 || SeenIn(first.tensor()).data != SeenIn(second.tensor()).data,
           Text("the flags are ", flags, ", and two exports share their memory"));
}

ArrayPtr MakeReadOnly(Check& c) {
  ArraySpec spec = SpecOf(Layouts()[0]);
  spec.read_only = true;
  return Make(c, spec);
}

void ReadOnly(Check& c) {
  const uint64_t flags = Export(c, *MakeReadOnly(c), Kind::kVersioned).versioned()->flags;
  c.Expect((flags & (kReadOnly | kIsCopied)) != 0,
           Text("the flags of a read-only array are ", flags));
}

void ReadOnlyLegacy(Check& c) {
  const ArrayPtr x = MakeReadOnly(c);
  c.Step("exports a read-only array");
  const Result<Managed> managed = x->Export(Kind::kLegacy);
  if (!managed) return;
  c.Show(*managed.value);
  c.Broken("a read-only array is exported as a legacy struct");
}

Managed ExportCopy(Check& c, AnyArray& x) {
  c.Step("exports a copy");
  const Result<Managed> managed = x.ExportCopy();
  if (!managed) c.NotApplicable(Text("no copy is exported: ", FirstLine(managed.refusal)));
  c.Show(*managed.value);
  return *managed.value;
}

const void* AddressOf(const Managed& managed) { return SeenIn(managed.tensor()).data; }

void CopiedFlag(Check& c) {
  const ArrayPtr x = MakePlain(c);
  const void* const shared = AddressOf(Export(c, *x, Kind::kVersioned));
  const Managed copy = ExportCopy(c, *x);
  if (AddressOf(copy) == shared) c.NotApplicable("ExportCopy() does not copy");
  const uint64_t flags = copy.versioned()->flags;
  c.Expect((flags & kIsCopied) != 0, Text("the flags of a copy are ", flags));
}

void CopyTrue(Check& c) {
  const ArrayPtr x = MakePlain(c);
  const void* const shared = AddressOf(Export(c, *x, Kind::kVersioned));
  const Managed copy = ExportCopy(c, *x);
  c.Expect(AddressOf(copy) != shared, Text("the copy shares the memory at ", shared));
  const Elements read = Read(c, copy);
  c.Expect(read == Base(), Text("the copy has ", ToText(read)));
}

void Type(Check& c, Kind kind, const DType& dtype) {
  const Elements elements = Numbered(dtype);
  const ArrayPtr x = Make(c, SpecOf(elements));
  const Managed managed = Export(c, *x, kind);
  const DLDataType type = managed.tensor().dtype;
  c.Expect(type.code == dtype.code && type.bits == dtype.bits && type.lanes == 1,
           Text(dtype.name, " is exported as code ", +type.code, ", ", +type.bits, " bits, lanes ",
                type.lanes));
  const Elements read = Read(c, managed);
  c.Expect(read == elements, Text("its elements are exported as ", ToText(read)));
}

}  // namespace

void AddProducerFields(Checks& checks) {
  for (Kind kind : checks.exports()) {
    checks.Add("producer.device-id", kind, [kind](Check& c) { DeviceId(c, kind); });
    for (const DType& dtype : kDTypes) {
      checks.Add("producer.type", kind, dtype.name, [=](Check& c) { Type(c, kind, dtype); });
    }
    if (kind == Kind::kLegacy) {
      checks.Add("producer.read-only-legacy", kind, ReadOnlyLegacy);
      continue;
    }
    checks.Add("producer.version", kind, Version);
    checks.Add("producer.flags", kind, Flags);
    checks.Add("producer.copied-only", kind, CopiedOnly);
    checks.Add("producer.read-only", kind, ReadOnly);
    checks.Add("producer.copied-flag", kind, CopiedFlag);
    checks.Add("producer.copy-true", kind, CopyTrue);
  }
}

}  // namespace dlpack_conformance
