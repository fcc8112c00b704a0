// A tour of Dovetail in C++: wrap the program's own memory as a tensor, take a view, cast it,
// export it over DLPack as for another library, and import it again.
//
//   ./bazelw run //examples:exchange

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/copy.h"
#include "dovetail/dovetail.h"

namespace {

absl::Status Run() {
  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  absl::StatusOr<dovetail::Tensor> x =
      dovetail::Tensor::Wrap(std::move(values), {2, 3});  // takes over the vector: no copy
  if (!x.ok()) return x.status();
  std::printf("x:    %s\n", x->ToString().c_str());

  absl::StatusOr<dovetail::Tensor> row = x->Select(0, 1);  // a view: no copy
  if (!row.ok()) return row.status();
  absl::StatusOr<absl::Span<float>> elements = row->span<float>();  // checks type and access
  if (!elements.ok()) return elements.status();
  (*elements)[0] = 30;
  std::printf("row:  %s, first element %g\n", row->ToString().c_str(), (*elements)[0]);

  absl::StatusOr<int32_t*> wrong = row->data<int32_t>();
  std::printf("as int32: %s\n", std::string(wrong.status().message()).c_str());

  dovetail::RegisterDefaultBackends();
  absl::StatusOr<dovetail::Tensor> half = dovetail::Copied(*row, {.dtype = dovetail::kFloat16});
  if (!half.ok()) return half.status();
  std::printf("half: %s\n", half->ToString().c_str());

  absl::StatusOr<dovetail::UniqueDLPack> out = dovetail::ToDLPack(*row);  // shares ownership
  if (!out.ok()) return out.status();
  std::printf("out:  %d dimension of %lld, flags %llu\n", (*out)->dl_tensor.ndim,
              static_cast<long long>((*out)->dl_tensor.shape[0]),
              static_cast<unsigned long long>((*out)->flags));

  // FromDLPack takes ownership, on an error too. The producer's deleter runs when the last view is
  // gone.
  absl::StatusOr<dovetail::Tensor> in = dovetail::FromDLPack(*std::move(out));
  if (!in.ok()) return in.status();
  std::printf("in:   %s, %s memory\n", in->ToString().c_str(),
              in->raw_data() == row->raw_data() ? "the same" : "other");
  return absl::OkStatus();
}

}  // namespace

int main() {
  absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
