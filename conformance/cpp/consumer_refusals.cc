// What a consumer has to refuse, and that a refusal neither leaks nor frees twice.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/growth.h"
#include "dlpack_conformance/lent.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

struct Faulty {
  const char* name;  // of the case
  const char* what;
  LentFields fields;
};

template <typename Change>
Faulty Make(const char* name, const char* what, Change change) {
  Faulty faulty{name, what, {}};
  change(faulty.fields);
  return faulty;
}

std::vector<Faulty> UnknownTypes() {
  const auto of = [](DLDataType dtype) { return [dtype](LentFields& f) { f.dtype = dtype; }; };
  return {
      Make("code_99", "a type with code 99", of({99, 32, 1})),
      Make("int_24_bits", "an int of 24 bits", of({kDLInt, 24, 1})),
      Make("float_8_bits", "a float of 8 bits", of({kDLFloat, 8, 1})),
      Make("bool_1_bit", "a bool of 1 bit", of({6, 1, 1})),
      Make("no_lanes", "a type without lanes", of({kDLFloat, 32, 0})),
  };
}

std::vector<Faulty> Impossible() {
  return {
      Make("ndim_minus_1", "a tensor of ndim -1", [](LentFields& f) { f.ndim = -1; }),
      Make("size_minus_1", "a tensor with a size of -1", [](LentFields& f) { f.shape[0] = -1; }),
      Make("overflow", "a tensor with 2^62 x 4 elements",
           [](LentFields& f) { f.shape[0] = int64_t{1} << 62; }),
  };
}

std::vector<Faulty> OtherMajors() {
  return {
      Make("2.0", "a struct of version 2.0", [](LentFields& f) { f.version = {2, 0}; }),
      Make("2.0_with_other_fields", "a struct of version 2.0 with other fields",
           [](LentFields& f) {
             f.version = {2, 0};
             f.ndim = 1 << 30;
             f.dtype.code = 99;
             f.null_data = true;
           }),
  };
}

Faulty OtherDevice() {
  return Make("device_16", "a tensor on device (16, 0)",
              [](LentFields& f) { f.device = {static_cast<DLDeviceType>(16), 0}; });
}

Faulty NullData() {
  return Make("NULL_data", "a tensor of 12 elements without data",
              [](LentFields& f) { f.null_data = true; });
}

void Refuses(Check& c, Kind kind, const Faulty& faulty) {
  const Lent lent(c, kind, faulty.fields);
  MustRefuse(c, lent, faulty.what);
}

void RefusesType(Check& c, Kind kind, const Faulty& faulty) {
  if (c.library().passes_on_types()) c.NotApplicable("the library passes unknown types on");
  Refuses(c, kind, faulty);
}

void RefusesDevice(Check& c, Kind kind) {
  if (c.library().passes_on_devices()) c.NotApplicable("the library passes unknown devices on");
  Refuses(c, kind, OtherDevice());
}

// Tensors that most libraries refuse.
std::vector<Faulty> Refused(Kind kind) {
  std::vector<Faulty> refused = {UnknownTypes()[0], OtherDevice(), NullData()};
  if (kind == Kind::kVersioned) refused.push_back(OtherMajors()[0]);
  return refused;
}

void RefusesCleanly(Check& c, Kind kind, const Faulty& faulty) {
  Lent lent(c, kind, faulty.fields);
  c.Step("takes the tensor in");
  if (c.library().Import(lent.managed())) c.NotApplicable("it is not refused");
  const int deleted = lent.deleted();
  c.Expect(deleted <= 1, Text("the deleter of a refused tensor is called ", deleted, " times"));
}

// The return of a C function says that it failed, not who owns the tensor.
void RefusesAlike(Check& c, Kind kind) {
  std::vector<std::unique_ptr<Lent>> all;  // alive until the end
  const char* what[2] = {};                // a refused tensor whose deleter was called 0, 1 times
  for (const Faulty& faulty : Refused(kind)) {
    all.push_back(std::make_unique<Lent>(c, kind, faulty.fields));
    c.Step("takes a tensor in");
    if (c.library().Import(all.back()->managed())) continue;
    what[all.back()->deleted() == 0 ? 0 : 1] = faulty.what;
  }
  if (what[0] != nullptr && what[1] != nullptr) {
    c.Broken(Text("when it refuses ", what[1], ", the deleter is called; when it refuses ", what[0],
                  ", it is not: its caller can't know who owns the tensor"));
  }
}

// Refuses a tensor many times. A leak of 16 bytes each time shows.
void RefusesWithoutLeak(Check& c, Kind kind, const Faulty& faulty) {
  using Clock = std::chrono::steady_clock;
  constexpr int kFirst = 1000, kCounted = 100000;
  if (kMiBKept > 0) c.NotApplicable("AddressSanitizer keeps freed memory");
  Lent lent(c, kind, faulty.fields);
  c.Step("takes the tensor in again and again");
  const auto end = Clock::now() + std::chrono::seconds(2);
  int64_t before = 0;
  int count = 0;
  for (; count < kFirst + kCounted && Clock::now() < end; ++count) {
    if (count == kFirst) before = KiBOfThisProcess();
    if (c.library().Import(lent.managed())) c.NotApplicable("it is not refused");
    lent.LendAgain();
  }
  if (count <= kFirst) c.NotApplicable("refusals are too slow to count their memory");
  const int64_t grown = KiBOfThisProcess() - before;
  c.Expect(grown < 1024, Text(count - kFirst, " refusals took ", grown, " KiB"));
}

}  // namespace

void AddConsumerRefusals(Checks& checks) {
  for (Kind kind : checks.imports()) {
    const auto add = [&](const char* rule, const Faulty& faulty) {
      checks.Add(rule, kind, faulty.name, [=](Check& c) { Refuses(c, kind, faulty); });
    };
    if (kind == Kind::kVersioned) {
      for (const Faulty& faulty : OtherMajors()) add("consumer.major", faulty);
    }
    for (const Faulty& faulty : UnknownTypes()) {
      checks.Add("consumer.unknown-type", kind, faulty.name,
                 [=](Check& c) { RefusesType(c, kind, faulty); });
    }
    for (const Faulty& faulty : Impossible()) add("consumer.impossible", faulty);
    checks.Add("consumer.null-data", kind, [kind](Check& c) { Refuses(c, kind, NullData()); });
    checks.Add("consumer.other-device", kind, [kind](Check& c) { RefusesDevice(c, kind); });
    for (const Faulty& faulty : Refused(kind)) {
      checks.Add("consumer.refuses-cleanly", kind, faulty.name,
                 [=](Check& c) { RefusesCleanly(c, kind, faulty); });
      checks.Add("consumer.refuses-cleanly", kind, std::string("many_times/") + faulty.name,
                 [=](Check& c) { RefusesWithoutLeak(c, kind, faulty); });
    }
    checks.Add("consumer.refuses-cleanly", kind, "alike",
               [kind](Check& c) { RefusesAlike(c, kind); });
  }
}

}  // namespace dlpack_conformance
