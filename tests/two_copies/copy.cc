// C functions of a shared object that contains a copy of Dovetail.

#include "dovetail/core/internal/block_cache.h"
#include "dovetail/core/internal/interruption.h"
#include "dovetail/core/internal/small_blocks.h"
#include "dovetail/dovetail.h"

// True if a CPU tensor can be allocated, which needs a registered backend.
extern "C" int CanAllocate() { return dovetail::Tensor::Empty({4}, dovetail::kFloat32).ok(); }
extern "C" void Register() { dovetail::RegisterDefaultBackends(); }

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
