// C functions of a shared object that contains a copy of Dovetail.

#include "dovetail/copy.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/blocks/small_blocks.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/dovetail.h"
#include "dovetail/trace.h"

// True if a CPU tensor can be allocated, which needs a registered backend.
extern "C" int CanAllocate() { return dovetail::Tensor::Empty({4}, dovetail::kFloat32).ok(); }
extern "C" void Register() { dovetail::RegisterDefaultBackends(); }
// The registry by its name, for a program that registers a backend of its own.
extern "C" int CountBackends() {
  return static_cast<int>(dovetail::Registry::Global().Backends().size());
}

// The number of events that a trace hears of a copy.
extern "C" int CountEventsOfACopy() {
  int count = 0;
  const dovetail::Tensor x = *dovetail::Tensor::Empty({4}, dovetail::kFloat32);
  dovetail::TraceSubscription trace([&](const dovetail::TraceEvent&) { ++count; });
  return dovetail::Copied(x).ok() ? count : -1;
}
// Whether a copy is refused in a block without copies.
extern "C" int RefusesCopies() {
  const dovetail::Tensor x = *dovetail::Tensor::Empty({4}, dovetail::kFloat32);
  dovetail::NoCopiesScope scope;
  return !dovetail::Copied(x).ok();
}

// Frees a block to this thread's free lists: the block of a Storage, and a tensor's memory.
extern "C" void* FreeABlock() {
  void* block = dovetail::AllocateBlock<64>();
  dovetail::FreeBlock<64>(block);
  return block;
}
extern "C" void* TakeABlock() { return dovetail::AllocateBlock<64>(); }
extern "C" void* FreeSmallMemory() {
  dovetail::SmallBlock* block = dovetail::TakeSmallBlock(256);
  dovetail::GiveSmallBlock(block, 256);
  return block;
}
extern "C" void* TakeSmallMemory() { return dovetail::TakeSmallBlock(256); }

// Makes long work on this thread interruptible from now on; tells whether it is.
extern "C" void BeginInterruptible() {
  new dovetail::ScopedInterruption([](void*) { return true; }, nullptr);
}
extern "C" int IsInterruptible() { return dovetail::ScopedInterruption::IsPossible(); }

// Looks a type up in the table of types.
extern "C" int KnowsType(int kind, int bits) {
  return dovetail::DType{static_cast<dovetail::TypeKind>(kind), static_cast<uint8_t>(bits), 1}
      .is_known();
}
