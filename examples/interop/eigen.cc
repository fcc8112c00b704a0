// Eigen computes in a tensor's memory, and a matrix of Eigen's becomes a tensor. No element is
// copied.
//
//   ./bazelw run //examples/interop:eigen

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/eigen/import.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

absl::Status Run() {
  using dovetail::Tensor;
  const Tensor image = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  // [page]
  absl::StatusOr<dovetail::EigenMap<float>> pixels = dovetail::AsMap<float>(image);
  if (!pixels.ok()) return pixels.status();
  pixels->array() -= pixels->mean();  // in the tensor's memory

  Eigen::MatrixXf gram = *pixels * pixels->transpose();
  const float* const memory = gram.data();
  absl::StatusOr<Tensor> owned = dovetail::FromEigen(std::move(gram));  // moved, not copied
  if (!owned.ok()) return owned.status();

  Eigen::Matrix3f rotation = Eigen::Matrix3f::Identity();
  absl::StatusOr<Tensor> borrowed = dovetail::ViewOf(rotation.topRows(2));  // while it lives
  // [page]
  if (!borrowed.ok()) return borrowed.status();
  Require(pixels->data() == image.raw_data(), "the map shares the tensor's memory");
  Require(**image.at<float>({1, 2}) == 2.5f, "Eigen wrote into the tensor");
  Require(owned->raw_data() == memory, "the matrix was moved");
  Require(**owned->at<float>({0, 1}) == -4.75f, "the product is right");
  Require(borrowed->raw_data() == rotation.data(), "the block is borrowed");
  Require(borrowed->strides()[1] == 3, "its strides are kept");
  std::printf("%s\n%s\n", owned->ToString().c_str(), borrowed->ToString().c_str());
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
