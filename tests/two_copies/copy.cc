// What a program's shared object with a copy of Dovetail in it might do, by C functions.

#include "dovetail/core/internal/block_cache.h"
#include "dovetail/core/internal/small_blocks.h"
#include "dovetail/core/interruption.h"
#include "dovetail/dovetail.h"

// Whether an empty tensor is to be had.
extern "C" int CanAllocate() { return dovetail::Tensor::Empty({4}, dovetail::kFloat32).ok(); }
extern "C" void Register() { dovetail::RegisterDefaultBackends(); }

// Gives memory to this thread's lists: a Storage's, and a tensor's.
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

// Whether long work on this thread can be stopped, from now on and without that.
extern "C" void BeginInterruptible() {
  new dovetail::ScopedInterruption([](void*) { return true; }, nullptr);
}
extern "C" int IsInterruptible() { return dovetail::ScopedInterruption::IsPossible(); }

// Looks up each type, which has a table.
extern "C" int KnowsType(int kind, int bits) {
  return dovetail::DType{static_cast<dovetail::TypeKind>(kind), static_cast<uint8_t>(bits), 1}
      .is_known();
}
