// SlotWord: the state of a slot of shared memory, in one atomic word.
//
// A slot is free, used, or on its way from one to the other. Its generation grows each time that it
// becomes free, so that a name with an older generation is known to be stale. The epoch grows with
// every change of state within a generation: a compare-and-swap from an old word fails even if the
// slot has the same state again.

#ifndef DOVETAIL_CORE_IPC_SLOT_WORD_H_
#define DOVETAIL_CORE_IPC_SLOT_WORD_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

enum class SlotState : uint8_t {
  kNone = 0,       // the granule lies inside another slot, or was never used
  kFree = 1,       // to be allocated
  kUsed = 2,       // the bits of its holders say by whom
  kRetiring = 3,   // used, without a holder when somebody began to free it
  kReshaping = 4,  // free, and about to be split or merged. Only under the structure lock.
};

class SlotWord {
 public:
  static constexpr int kGenerationBits = 40;

  explicit constexpr SlotWord(uint64_t bits) : bits_(bits) {}
  constexpr SlotWord(uint64_t generation, SlotState state)
      : bits_(generation << (64 - kGenerationBits) | static_cast<uint64_t>(state)) {}

  constexpr uint64_t bits() const { return bits_; }
  constexpr uint64_t generation() const { return bits_ >> (64 - kGenerationBits); }
  constexpr SlotState state() const { return static_cast<SlotState>(bits_ & kStateMask); }

  // The word after a change of state in this generation.
  constexpr SlotWord To(SlotState state) const {
    const uint64_t epoch = ((bits_ >> kStateBits) + 1) & kEpochMask;
    return SlotWord(bits_ >> (64 - kGenerationBits) << (64 - kGenerationBits) |
                    epoch << kStateBits | static_cast<uint64_t>(state));
  }
  // The first word of the next generation.
  constexpr SlotWord Next(SlotState state) const { return {generation() + 1, state}; }

 private:
  static constexpr int kStateBits = 4;
  static constexpr uint64_t kStateMask = (uint64_t{1} << kStateBits) - 1;
  static constexpr uint64_t kEpochMask = (uint64_t{1} << (64 - kGenerationBits - kStateBits)) - 1;

  uint64_t bits_;
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SLOT_WORD_H_
