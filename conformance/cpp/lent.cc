#include "dlpack_conformance/lent.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "dlpack_conformance/describe.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

// The tensors of this process, for the deleter: manager_ctx may be NULL.
constexpr size_t kMost = 64;
std::atomic<Lent*> all_lent[kMost];

constexpr size_t kStructBytes = 512;  // struct, shape and strides
constexpr size_t kShapeAt = 256, kStridesAt = 384;

Managed StructIn(Pages& pages, Kind kind) {
  void* const at = pages.data();
  return kind == Kind::kVersioned ? Managed(static_cast<DLManagedTensorVersioned*>(at))
                                  : Managed(static_cast<DLManagedTensor*>(at));
}

int64_t* CopyTo(unsigned char* at, const std::vector<int64_t>& numbers) {
  if (!numbers.empty()) std::memcpy(at, numbers.data(), numbers.size() * sizeof(int64_t));
  return reinterpret_cast<int64_t*>(at);
}

}  // namespace

template <typename T>
void Lent::Delete(T* managed) {
  for (std::atomic<Lent*>& slot : all_lent) {
    Lent* const lent = slot;
    if (lent == nullptr || lent->managed_.address() != managed) continue;
    ++lent->deleted_;
    lent->memory_.Forbid("read or written after the deleter was called");
    lent->struct_.Forbid("read or written after the deleter was called");
    return;
  }
  WriteRecord(PipeOfThisProcess(), records::kBroken,
              Text("the deleter is called for ", managed, ", which is no tensor of its producer"));
  _exit(0);
}

Lent::Lent(Check& check, Kind kind, const LentFields& f)
    : memory_(f.at + f.memory.bytes.size(), "the tensor's memory"),
      struct_(kStructBytes, "the managed struct"),
      managed_(StructIn(struct_, kind)) {
  for (std::atomic<Lent*>& slot : all_lent) {
    Lent* none = nullptr;
    if (slot.compare_exchange_strong(none, this)) break;
  }
  if (!f.memory.bytes.empty()) {
    std::memcpy(memory_.data() + f.at, f.memory.bytes.data(), f.memory.bytes.size());
  }
  DLTensor& t = managed_.tensor();
  t.data = f.null_data ? nullptr : memory_.data() + f.data_at;
  t.device = f.device;
  t.ndim = f.ndim.value_or(static_cast<int32_t>(f.shape.size()));
  t.dtype = f.dtype;
  t.shape = f.null_shape ? nullptr : CopyTo(struct_.data() + kShapeAt, f.shape);
  t.strides = f.null_strides ? nullptr : CopyTo(struct_.data() + kStridesAt, f.strides);
  t.byte_offset = f.byte_offset;
  void* const context = f.null_context ? nullptr : this;
  if (DLManagedTensorVersioned* m = managed_.versioned()) {
    m->version = f.version;
    m->flags = f.flags;
    m->manager_ctx = context;
    m->deleter = f.null_deleter ? nullptr : &Lent::Delete<DLManagedTensorVersioned>;
  } else {
    DLManagedTensor* const legacy = managed_.legacy();
    legacy->manager_ctx = context;
    legacy->deleter = f.null_deleter ? nullptr : &Lent::Delete<DLManagedTensor>;
  }
  check.Show(managed_);
}

void Lent::LendAgain() {
  if (deleted_.exchange(0) == 0) return;
  memory_.Allow();
  struct_.Allow();
}

int Lent::DeletedSoon() const {
  for (int i = 0; i < 200 && deleted_ == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return deleted_;
}

namespace {

Result<ArrayPtr> Take(Check& c, const Lent& lent) {
  c.Step("takes the tensor in");
  Result<ArrayPtr> y = c.library().Import(lent.managed());
  if (!y) y.refusal = Text("it is refused: ", FirstLine(y.refusal));
  c.Step("goes on after the import");
  return y;
}

}  // namespace

ArrayPtr TakeIfPossible(Check& c, const Lent& lent) {
  Result<ArrayPtr> y = Take(c, lent);
  if (!y) c.NotApplicable(y.refusal);
  return *std::move(y.value);
}

ArrayPtr TakeOrKeep(Check& c, const Lent& lent) {
  Result<ArrayPtr> y = Take(c, lent);
  if (!y) c.Kept(y.refusal);
  return *std::move(y.value);
}

ArrayPtr MustTake(Check& c, const Lent& lent) {
  Result<ArrayPtr> y = Take(c, lent);
  if (!y) c.Broken(y.refusal);
  return *std::move(y.value);
}

void MustRefuse(Check& c, const Lent& lent, std::string_view what) {
  Result<ArrayPtr> y = Take(c, lent);
  if (y) c.Broken(Text(what, " is taken in"));
}

void ExpectElements(Check& c, AnyArray& y, const Elements& expected) {
  c.Step("says what it sees");
  const Result<Seen> seen = y.Look();
  if (!seen) c.Broken(Text("Look() fails: ", FirstLine(seen.refusal)));
  const Seen& s = *seen.value;
  if (s.shape != expected.shape) c.Broken(Text("the library sees the shape ", s.shape));
  const DLDataType type = expected.dtype;
  if (s.dtype.code != type.code || s.dtype.bits != type.bits || s.dtype.lanes != type.lanes) {
    c.Broken(Text("the library sees the type ", NameOf(s.dtype)));
  }
  c.Step("reads the elements where the library sees them");
  const Elements read = Gather(s);
  c.Expect(read == expected,
           Text("the library sees ", ToText(read), "; it was given ", ToText(expected)));
}

}  // namespace dlpack_conformance
