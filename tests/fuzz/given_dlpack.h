// DLPack structs for the fuzzer: drawn from its bytes, judged by the plainest rules, and lent as
// another library lends them.
//
//   GivenDLPack given = DrawDLPack(input, memory);
//   int deleted = 0;
//   DLManagedTensor* managed = Lend<DLManagedTensor>(given, &deleted);
//   Judgement judgement = Judge(managed->dl_tensor, given.flags, given.version);

#ifndef DOVETAIL_TESTS_FUZZ_GIVEN_DLPACK_H_
#define DOVETAIL_TESTS_FUZZ_GIVEN_DLPACK_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "dlpack/dlpack.h"
#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/tests/fuzz/input.h"

namespace dovetail::fuzz {

struct GivenDLPack {
  DLPackVersion version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  uint64_t flags = 0;
  DLTensor tensor = {};          // its pointers to shape and strides are not null if it has them
  std::vector<int64_t> shape;    // at most 64
  std::vector<int64_t> strides;  // empty: NULL
};

// Valid as a rule: an array on the CPU that begins or ends at a page that can't be touched.
GivenDLPack DrawDLPack(Input& input, const GuardedMemory& memory);

enum class Verdict { kValid, kInvalid, kEither };

// What the rules of dlpack.h 1.3 and docs/protocol.md say of a struct.
struct Judgement {
  Verdict verdict = Verdict::kInvalid;
  // Of a valid struct on the CPU:
  bool empty = false;    // no elements
  uintptr_t origin = 0;  // the address of element 0
  uintptr_t lowest = 0;  // the lowest byte of the elements
  uint64_t nbytes = 0;   // from there to the end of the highest
  uint64_t num_elements = 0;

  bool IsIn(const GuardedMemory& memory) const {
    const auto begin = reinterpret_cast<uintptr_t>(memory.begin());
    const auto size = static_cast<uint64_t>(memory.size());
    return lowest >= begin && lowest - begin <= size && nbytes <= size - (lowest - begin);
  }
};
Judgement Judge(const DLTensor& tensor, uint64_t flags, DLPackVersion version);

// A managed tensor with blocks of exactly its size. Its deleter frees it and adds 1 to *deleted.
template <typename Managed>
Managed* Lend(const GivenDLPack& given, int* deleted) {
  struct Block {
    Managed managed = {};
    std::unique_ptr<int64_t[]> shape, strides;
    int* deleted;
  };
  auto* block = new Block;
  const auto take = [](const std::vector<int64_t>& numbers) {
    auto taken = std::make_unique<int64_t[]>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), taken.get());
    return taken;
  };
  block->shape = take(given.shape);
  block->strides = take(given.strides);
  block->deleted = deleted;
  Managed& managed = block->managed;
  managed.dl_tensor = given.tensor;
  if (given.tensor.shape != nullptr) managed.dl_tensor.shape = block->shape.get();
  if (given.tensor.strides != nullptr) managed.dl_tensor.strides = block->strides.get();
  managed.manager_ctx = block;
  managed.deleter = [](Managed* self) {
    auto* mine = static_cast<Block*>(self->manager_ctx);
    ++*mine->deleted;
    delete mine;
  };
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.version = given.version;
    managed.flags = given.flags;
  }
  return &managed;
}

}  // namespace dovetail::fuzz

#endif  // DOVETAIL_TESTS_FUZZ_GIVEN_DLPACK_H_
