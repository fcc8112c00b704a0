// How a cv::Mat owns the memory of a Tensor: OpenCV's reference count of the Mat's memory
// (UMatData) has an allocator, and that of a lent tensor drops the Storage.
//
//   TensorAllocator::Lend(tensor, &mat);                      // mat is over the tensor's memory
//   const LentMemory* lent = TensorAllocator::FindLent(mat);  // nullptr: the memory is not ours
//
// Mat::create() allocates other memory as always, because Mat::allocator stays null.

#ifndef DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_
#define DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_

#include <cstddef>
#include <opencv2/core.hpp>

#include "dovetail/core/config.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_opencv {

// What a Mat and its copies count together, and the memory that they were lent. Comes from
// Dovetail's cache of small blocks, because malloc would double the cost of AsMat.
struct LentMemory : cv::UMatData {
  LentMemory(const cv::MatAllocator* allocator, const Tensor& tensor, const cv::Mat& mat)
      : cv::UMatData(allocator), storage(tensor.storage()), access(tensor.access()) {
    data = origdata = mat.data;
    size = static_cast<size_t>(mat.datalimit - mat.datastart);
    flags = cv::UMatData::USER_ALLOCATED;
  }
  static void* operator new(size_t /*size*/) { return AllocateBlock<sizeof(LentMemory)>(); }
  static void operator delete(void* block) { FreeBlock<sizeof(LentMemory)>(block); }

  StorageRef storage;
  Access access;
};

class TensorAllocator final : public cv::MatAllocator {
 public:
  static void Lend(const Tensor& tensor, cv::Mat* mat) {
    mat->u = new LentMemory(&Get(), tensor, *mat);
    mat->u->refcount = 1;
  }
  // The memory that Lend of this shared object gave the Mat.
  static const LentMemory* FindLent(const cv::Mat& mat) {
    const bool is_ours = mat.u != nullptr && mat.u->currAllocator == &Get();
    return is_ours ? static_cast<const LentMemory*>(mat.u) : nullptr;
  }

  // What OpenCV asks for on behalf of a Mat of this memory, such as Mat::getUMat().
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step,
                         cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
  }
  bool allocate(cv::UMatData* data, cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(data, flags, usage);
  }
  // Called when no Mat and no UMat counts the memory any more.
  void deallocate(cv::UMatData* data) const override { delete static_cast<LentMemory*>(data); }

 private:
  // Never destroyed: a Mat may be released when the program ends. One in each shared object.
  [[gnu::visibility("hidden")]] static const TensorAllocator& Get() {
    static const auto* allocator = new TensorAllocator;
    return *allocator;
  }
};

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_
