#include <atomic>
#include <type_traits>

#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/arrow/owned.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/lend.h"
#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {
namespace {

// A tensor on its way from one library to another.
struct Exported {
  int32_t key = 0;
  UniqueDLPack managed = nullptr;
  UniqueDLPackLegacy legacy = nullptr;
  OwnedArrow<ArrowSchema> schema;
  OwnedArrow<ArrowArray> array;
};

std::atomic<int64_t> lent = 0, given_back = 0;

// Another library's tensor. Its deleter destroys it, so that a second call is a use after free.
template <typename Managed>
struct Lender {
  explicit Lender(int32_t key) {
    lent.fetch_add(1, std::memory_order_relaxed);
    for (int32_t& element : data) element = key;
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
      managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    }
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { GiveBack(self->manager_ctx); };
    managed.dl_tensor = {.data = data,
                         .device = {kDLCPU, 0},
                         .ndim = 2,
                         .dtype = {kDLInt, 32, 1},
                         .shape = shape,
                         .strides = strides,
                         .byte_offset = 0};
  }
  static void GiveBack(void* self) {
    given_back.fetch_add(1, std::memory_order_relaxed);
    delete static_cast<Lender*>(self);
  }

  int32_t data[6];
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  Managed managed = {};
};

class Exchange final : public Steps {
 public:
  explicit Exchange(Board& board) : board_(board) {}

  void Run(Random& random) override {
    switch (random.Below(5)) {
      case 0:
        return Lend(random);
      case 1:
        return Export(random);
      case 2:
        return ExportTogether(random);
      default:
        return Import(random);
    }
  }

  void Finish() override { exported_.Clear(); }

  void Check() override {
    EXPECT_GT(lent, 0);
    EXPECT_EQ(lent, given_back);
  }

 private:
  void Lend(Random& random) {
    auto out = std::make_unique<Exported>();
    out->key = NewKey(random);
    switch (random.Below(4)) {
      case 0:
        out->managed.reset(&(new Lender<DLManagedTensorVersioned>(out->key))->managed);
        break;
      case 1:
        out->legacy.reset(&(new Lender<DLManagedTensor>(out->key))->managed);
        break;
      case 2: {
        auto* lender = new Lender<DLManagedTensorVersioned>(out->key);
        const Tensor whole = *Tensor::Make(Storage::Adopt(lender->data, 24, Device::Cpu(), {}), 0,
                                           kInt32, *Layout::Contiguous({2, 3}), {});
        out->managed = LendDLPack(whole.view(), {&lender->GiveBack, lender});
        break;
      }
      default: {  // what is refused is given back, too
        auto* lender = new Lender<DLManagedTensorVersioned>(out->key);
        lender->managed.dl_tensor.ndim = -1;
        EXPECT_FALSE(FromDLPack(&lender->managed).ok());
        return;
      }
    }
    exported_.Swap(random, std::move(out));  // drops what lay there, which calls its deleter
  }

  static std::unique_ptr<Exported> ExportOf(const Held& held, Random& random) {
    auto out = std::make_unique<Exported>();
    out->key = held.key;
    const Tensor& t = held.tensor;
    switch (random.Below(3)) {
      case 0:
        out->managed = ValueOf(ToDLPack(t));
        break;
      case 1:
        if (t.is_read_only()) {
          out->managed = ToDLPackUnordered(t);
        } else {
          out->legacy = ValueOf(ToDLPackLegacy(t));
        }
        break;
      default:
        if (t.rank() == 0 || !t.is_contiguous() || t.num_elements() == 0) return out;
        EXPECT_TRUE(ToArrow(t, out->schema.get(), out->array.get()).ok());
        break;
    }
    return out;
  }

  void Export(Random& random) {
    std::unique_ptr<Held> held = board_.tensors.Take(random);
    if (held != nullptr) exported_.Swap(random, ExportOf(*held, random));
    if (random.OneIn(2)) board_.tensors.Swap(random, std::move(held));
  }
  void ExportTogether(Random& random) {
    const std::shared_ptr<const Held> held = board_.read_only.Look(random);
    if (held != nullptr) exported_.Swap(random, ExportOf(*held, random));
  }

  void Import(Random& random) {
    std::unique_ptr<Exported> in = exported_.Take(random);
    if (in == nullptr || random.OneIn(8)) return;  // dropped unseen
    auto held = std::make_unique<Held>(Held{Tensor(), in->key});
    if (in->managed != nullptr) {
      held->tensor = ValueOf(FromDLPack(std::move(in->managed)));
    } else if (in->legacy != nullptr) {
      held->tensor = ValueOf(FromDLPack(std::move(in->legacy)));
    } else if (in->array->release != nullptr) {
      held->tensor = ValueOf(FromArrow(in->schema.get(), in->array.get()));
    } else {
      return;
    }
    CheckElements(held->tensor, held->key);
    if (random.OneIn(3)) return board_.read_only.Put(random, std::move(held));
    board_.tensors.Swap(random, std::move(held));
  }

  Board& board_;
  Shelf<Exported> exported_;
};

}  // namespace

std::unique_ptr<Steps> ExchangeSteps(Board& board) { return std::make_unique<Exchange>(board); }

}  // namespace dovetail::stress
