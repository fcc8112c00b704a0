// Who frees the memory of an export, and when.
//
// That memory is freed is seen by the most that the process ever had: a leak of 24 times 8 MiB
// shows. That it is freed too early is seen by other values, or by a crash.

#include <thread>

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/exported.h"
#include "dlpack_conformance/growth.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

constexpr int64_t kLarge = 1 << 21;       // elements of 8 MiB
constexpr int kFirst = 8 + kMiBKept / 8;  // exports after which memory is counted
constexpr int kCounted = 24;              // exports whose memory is counted

Elements Ones(int64_t count) {
  return Floats({count}, std::vector<float>(static_cast<size_t>(count), 1));
}

void Deleter(Check& c, Kind kind, bool on_another_thread) {
  const Elements ones = Ones(kLarge);
  const ArraySpec spec = SpecOf(ones);
  int64_t before = 0;
  for (int i = 0; i < kFirst + kCounted; ++i) {
    const Managed managed = Export(c, *Make(c, spec), kind);
    if (i == kFirst) before = KiBOfThisProcess();
    c.Step("calls the deleter");
    if (on_another_thread) {
      std::thread([&] { managed.Delete(); }).join();
    } else {
      managed.Delete();
    }
  }
  const int64_t grown = (KiBOfThisProcess() - before) >> 10;
  c.Expect(grown < 100,
           Text("the deleter frees nothing: ", kCounted, " arrays of 8 MiB took ", grown, " MiB"));
}

void Lifetime(Check& c, Kind kind, int64_t count) {
  const Elements ones = Ones(count);
  ArrayPtr x = Make(c, SpecOf(ones));
  const Managed managed = Export(c, *x, kind);
  c.Step("drops the array");
  x.reset();
  // Other arrays take the memory, if it is free.
  const Elements twos = Floats({4}, {2, 2, 2, 2});
  constexpr int kOthers = 100;
  std::vector<ArrayPtr> others;
  others.reserve(kOthers);
  for (int i = 0; i < kOthers; ++i) others.push_back(Make(c, SpecOf(twos)));
  const Elements read = Read(c, managed);
  c.Expect(read == ones, Text("after the array was dropped, the memory has ", ToText(read)));
}

void Repeated(Check& c, Kind kind) {
  ArrayPtr x = MakePlain(c);
  const Managed first = Export(c, *x, kind);
  const Managed second = Export(c, *x, kind);
  c.Expect(first.address() != second.address(),
           Text("two exports share the struct at ", first.address()));
  x.reset();
  c.Step("calls the deleter of the first export");
  first.Delete();
  const Elements read = Read(c, second);
  c.Expect(read == Base(), Text("after the deleter of another export, there is ", ToText(read)));
}

}  // namespace

void AddProducerLifetimes(Checks& checks) {
  for (Kind kind : checks.exports()) {
    checks.Add("producer.deleter", kind, "this_thread",
               [kind](Check& c) { Deleter(c, kind, false); });
    checks.Add("producer.deleter", kind, "another_thread",
               [kind](Check& c) { Deleter(c, kind, true); });
    checks.Add("producer.lifetime", kind, "8_MiB", [kind](Check& c) { Lifetime(c, kind, kLarge); });
    checks.Add("producer.lifetime", kind, "16_bytes", [kind](Check& c) { Lifetime(c, kind, 4); });
    checks.Add("producer.repeated", kind, [kind](Check& c) { Repeated(c, kind); });
  }
}

}  // namespace dlpack_conformance
