// Eigen's matrix as a tensor and back, over an Eigen that only a flag names.
#include <cstdio>

#include "Eigen/Core"
#include "dovetail/dovetail.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/eigen/import.h"

int main() {
  Eigen::MatrixXf matrix = Eigen::MatrixXf::Identity(3, 4);
  absl::StatusOr<dovetail::Tensor> tensor = dovetail::ViewOf(matrix);
  auto map = dovetail::AsMap<float>(*tensor);
  if (!map.ok() || map->data() != matrix.data() || (*map)(2, 2) != 1) return 1;
  std::printf("consumer: Eigen's matrix and the tensor's map are one memory\n");
  return 0;
}
