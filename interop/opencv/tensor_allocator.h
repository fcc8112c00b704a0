// How a cv::Mat owns the memory of a Tensor: OpenCV's reference count of the Mat's memory
// (UMatData) has an allocator, and that of a lent tensor drops the Storage.
//
//   TensorAllocator::Lend(tensor.storage(), &mat);   // mat has the tensor's data
//
// Mat::create() allocates other memory as always, because Mat::allocator stays null.

#ifndef DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_
#define DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_

#include <opencv2/core.hpp>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_opencv {

class TensorAllocator final : public cv::MatAllocator {
 public:
  // Never destroyed: a Mat may be released when the program ends.
  static const TensorAllocator& Get() {
    static const auto* allocator = new TensorAllocator;
    return *allocator;
  }

  // What OpenCV asks for on behalf of a Mat of this memory, such as Mat::getUMat().
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step,
                         cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
  }
  bool allocate(cv::UMatData* data, cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(data, flags, usage);
  }
  void deallocate(cv::UMatData* data) const override { delete static_cast<Lent*>(data); }

  static void Lend(StorageRef storage, cv::Mat* mat) {
    mat->u = new Lent(std::move(storage), *mat);
    mat->addref();
  }

 private:
  struct Lent : cv::UMatData {
    Lent(StorageRef lent, const cv::Mat& mat) : cv::UMatData(&Get()), storage(std::move(lent)) {
      data = origdata = mat.data;
      size = static_cast<size_t>(mat.datalimit - mat.datastart);
      flags = cv::UMatData::USER_ALLOCATED;
    }
    StorageRef storage;
  };
};

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_TENSOR_ALLOCATOR_H_
