#include "dovetail/tests/fuzz/elements.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr int64_t kMostElements = 600;

int64_t CountOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// Whether a tensor has few elements and, if sizes are 0, would have few if they were 1.
bool IsSmall(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size > kMostElements / count) return false;
    if (size != 0) count *= size;
  }
  return true;
}

// Calls each(index) for every index of `shape`, in row-major order.
template <typename Each>
DOVETAIL_MODEL void ForEachIndex(const std::vector<int64_t>& shape, Each each) {
  std::vector<int64_t> index(shape.size());
  for (int64_t left = CountOf(shape); left > 0; --left) {
    each(index);
    for (size_t dim = shape.size(); dim-- > 0; index[dim] = 0) {
      if (++index[dim] != shape[dim]) break;
    }
  }
}

DOVETAIL_MODEL int64_t At(const Elements& elements, const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t dim = 0; dim < index.size(); ++dim) place = place * elements.shape[dim] + index[dim];
  return elements.bits[place];
}

// Where all elements of the last `rank` dimensions lie.
DOVETAIL_MODEL void AddPlaces(const int64_t* shape, const int64_t* strides, int rank, int64_t step,
                              int64_t bits, std::vector<int64_t>* places) {
  if (rank == 0) {
    places->push_back(bits);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    AddPlaces(shape + 1, strides + 1, rank - 1, step, bits, places);
    if (i + 1 < shape[0]) bits += strides[0] * step;
  }
}

// The elements whose index in dimension `dim` is one of `indices`.
Elements Along(const Elements& from, int dim, const std::vector<int64_t>& indices) {
  Elements to{from.shape, {}};
  to.shape[dim] = static_cast<int64_t>(indices.size());
  ForEachIndex(to.shape, [&](std::vector<int64_t> index) {
    index[dim] = indices[index[dim]];
    to.bits.push_back(At(from, index));
  });
  return to;
}

// What Python's range(size)[start:stop:step] has.
std::vector<int64_t> Indices(int64_t size, const SliceSpec& slice) {
  const bool up = slice.step > 0;
  const auto clamped = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at.has_value()) return otherwise;
    const int64_t from_start = *at < 0 ? *at + size : *at;
    return std::clamp<int64_t>(from_start, up ? 0 : -1, up ? size : size - 1);
  };
  const int64_t start = clamped(slice.start, up ? 0 : size - 1);
  const int64_t stop = clamped(slice.stop, up ? size : -1);
  std::vector<int64_t> indices;
  for (__int128 i = start; up ? i < stop : i > stop; i += slice.step) {
    indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

struct Viewed {
  absl::StatusOr<Tensor> tensor;
  Elements elements;
  bool may_need_copy = false;
};

Viewed Sliced(Input& input, const Tensor& tensor, const Elements& elements) {
  const int dim = static_cast<int>(input.Between(0, elements.rank() - 1));
  SliceSpec slice;
  if (input.OneIn(2)) slice.start = input.Number();
  if (input.OneIn(2)) slice.stop = input.Number();
  if (input.OneIn(2)) slice.step = input.Number();
  if (slice.step == 0) slice.step = -1;
  return {tensor.Slice(dim, slice), Along(elements, dim, Indices(elements.shape[dim], slice))};
}

Viewed Selected(Input& input, const Tensor& tensor, const Elements& elements) {
  const int dim = static_cast<int>(input.Between(0, elements.rank() - 1));
  const int64_t size = elements.shape[dim];
  if (size == 0) {
    Require(!tensor.Select(dim, 0).ok(), "an element of an empty dimension is refused");
    return {tensor, elements};
  }
  const int64_t at = input.Between(0, std::min<int64_t>(size - 1, 65535));
  Elements selected = Along(elements, dim, {at});
  selected.shape.erase(selected.shape.begin() + dim);
  return {tensor.Select(dim, input.OneIn(2) ? at - size : at), std::move(selected)};
}

Viewed Permuted(Input& input, const Tensor& tensor, const Elements& elements) {
  std::vector<int64_t> order(elements.shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[input.Between(0, static_cast<int64_t>(i) - 1)]);
  }
  Elements permuted;
  for (int64_t dim : order) permuted.shape.push_back(elements.shape[dim]);
  ForEachIndex(permuted.shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(index.size());
    for (size_t dim = 0; dim < order.size(); ++dim) from[order[dim]] = index[dim];
    permuted.bits.push_back(At(elements, from));
  });
  return {tensor.Permute(order), std::move(permuted)};
}

Viewed Reshaped(Input& input, const Tensor& tensor, const Elements& elements) {
  std::vector<int64_t> shape;
  int64_t left = CountOf(elements.shape);
  while (left > 1 && shape.size() < 6) {
    int64_t size = input.Between(1, 7);
    while (left % size != 0) --size;
    shape.push_back(size);
    left /= size;
    if (input.ended()) break;
  }
  shape.insert(shape.begin() + input.Between(0, static_cast<int64_t>(shape.size())), left);
  return {tensor.Reshape(shape), Elements{shape, elements.bits}, /*may_need_copy=*/true};
}

Viewed Broadcast(Input& input, const Tensor& tensor, const Elements& elements) {
  std::vector<int64_t> shape = elements.shape;
  for (int64_t& size : shape) {
    if (size == 1) size = input.Between(0, 4);
  }
  if (input.OneIn(2)) shape.insert(shape.begin(), input.Between(0, 3));
  if (!IsSmall(shape) || shape.size() > 12) return {tensor, elements};
  Elements broadcast{shape, {}};
  const size_t added = shape.size() - elements.shape.size();
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(index.begin() + static_cast<ptrdiff_t>(added), index.end());
    for (size_t dim = 0; dim < from.size(); ++dim) {
      if (elements.shape[dim] == 1) from[dim] = 0;
    }
    broadcast.bits.push_back(At(elements, from));
  });
  return {tensor.BroadcastTo(shape), std::move(broadcast)};
}

Viewed Changed(Input& input, const Tensor& tensor, const Elements& elements) {
  const int64_t which = elements.rank() == 0 ? input.Between(2, 4) : input.Between(0, 4);
  switch (which) {
    case 0:
      return Sliced(input, tensor, elements);
    case 1:
      return Selected(input, tensor, elements);
    case 2:
      return Permuted(input, tensor, elements);
    case 3:
      return Reshaped(input, tensor, elements);
    default:
      return Broadcast(input, tensor, elements);
  }
}

}  // namespace

Elements Elements::Of(const Tensor& tensor, const void* memory) {
  Elements elements{{tensor.shape().begin(), tensor.shape().end()}, {}};
  if (tensor.num_elements() == 0) return elements;  // nothing says where they would lie
  const int64_t step = StepBits(tensor.dtype(), tensor.packing());
  const int64_t first =
      8 * (static_cast<const char*>(tensor.raw_data()) - static_cast<const char*>(memory));
  elements.bits.reserve(static_cast<size_t>(tensor.num_elements()));
  AddPlaces(elements.shape.data(), tensor.strides().data(), elements.rank(), step, first,
            &elements.bits);
  return elements;
}

void RandomView(Input& input, Tensor* tensor, Elements* elements, const void* memory) {
  Viewed viewed = Changed(input, *tensor, *elements);
  if (!viewed.tensor.ok()) {
    const absl::Status& status = viewed.tensor.status();
    const bool inside_a_byte = absl::IsInvalidArgument(status) && tensor->dtype().is_sub_byte();
    Require(inside_a_byte || (viewed.may_need_copy && absl::IsFailedPrecondition(status)),
            "a valid view is made", status, *tensor);
    return;
  }
  Require(Elements::Of(*viewed.tensor, memory) == viewed.elements,
          "a view has the elements that it names", *tensor, *viewed.tensor);
  *tensor = *std::move(viewed.tensor);
  *elements = std::move(viewed.elements);
}

}  // namespace dovetail::fuzz
