#include "dovetail/core/format_values.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/index.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/internal/host_ready.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int kLineWidth = 80;
constexpr int64_t kThreshold = 1000;  // above it, only the edges are shown
constexpr int64_t kEdgeItems = 3;
constexpr std::string_view kPrefix = "tensor(";

std::string RightAligned(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

// The form in which all floats of a tensor are written: without digits after the point, with four,
// or with an exponent.
class FloatFormat {
 public:
  explicit FloatFormat(const std::vector<double>& values) {
    double smallest = INFINITY, largest = 0;
    bool integers = true;
    for (double v : values) {
      if (v == 0 || !std::isfinite(v)) continue;
      smallest = std::min(smallest, std::abs(v));
      largest = std::max(largest, std::abs(v));
      integers = integers && v == std::ceil(v);
    }
    if (largest == 0) return;
    const bool is_wide = largest / smallest > 1000 || largest > 1e8;
    if (is_wide || (!integers && smallest < 1e-4)) {
      form_ = Form::kExponent;
    } else if (!integers) {
      form_ = Form::kFourDigits;
    }
    for (double v : values) {
      if (v != 0 && std::isfinite(v)) width_ = std::max(width_, Text(v).size());
    }
  }

  size_t width() const { return width_; }
  std::string Text(double v) const {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    switch (form_) {
      case Form::kExponent:
        return absl::StrFormat("%.4e", v);
      case Form::kFourDigits:
        return absl::StrFormat("%.4f", v);
      case Form::kInteger:
        break;
    }
    return absl::StrFormat("%.0f.", v);
  }
  std::string Aligned(double v) const { return RightAligned(Text(v), width_); }

 private:
  enum class Form { kInteger, kFourDigits, kExponent };
  Form form_ = Form::kInteger;
  size_t width_ = 1;
};

// Formats the shown elements, in row-major order. All texts have one width.
std::vector<std::string> FormatFloats(const std::vector<double>& values, size_t* width) {
  const FloatFormat format(values);
  *width = format.width();
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (double v : values) texts.push_back(format.Aligned(v));
  return texts;
}

std::vector<std::string> FormatComplex(const std::vector<std::complex<double>>& values,
                                       size_t* width) {
  std::vector<double> real, imag;
  for (const auto& v : values) {
    real.push_back(v.real());
    imag.push_back(v.imag());
  }
  const FloatFormat format_real(real), format_imag(imag);
  *width = format_real.width() + format_imag.width() + 1;
  std::vector<std::string> texts;
  for (const auto& v : values) {
    const std::string imaginary = format_imag.Text(v.imag());
    const char* const sign = imaginary[0] == '-' ? "" : "+";
    texts.push_back(absl::StrCat(format_real.Aligned(v.real()), sign, imaginary, "j"));
  }
  return texts;
}

std::string PlainText(const ElementValue& value) {
  if (const auto* v = std::get_if<bool>(&value)) return *v ? "True" : "False";
  if (const auto* v = std::get_if<int64_t>(&value)) return absl::StrCat(*v);
  if (const auto* v = std::get_if<uint64_t>(&value)) return absl::StrCat(*v);
  return "";
}

// Writes the values of a tensor, with its brackets and line breaks. `host` has its elements in host
// memory, all of them or only those that are shown (EdgesOnHost).
class ValueWriter {
 public:
  ValueWriter(const Tensor& tensor, const Tensor& host)
      : tensor_(tensor),
        host_(host),
        edge_(tensor.num_elements() > kThreshold ? kEdgeItems : kThreshold),
        step_(StepBits(host.dtype(), host.packing())) {
    Read(0, 0);
    MakeTexts();
  }

  std::string Write() { return Write(0, static_cast<int>(kPrefix.size())); }

 private:
  bool IsCut(int dim) const { return Shown(dim) < tensor_.layout().shape(dim); }
  int64_t Shown(int dim) const { return std::min(tensor_.layout().shape(dim), 2 * edge_); }

  void Read(int dim, int64_t bit) {
    if (dim == tensor_.rank()) {
      values_.push_back(ReadElement(host_.raw_data(), bit, host_.dtype()));
      return;
    }
    const int64_t size = host_.layout().shape(dim), shown = Shown(dim);
    const int64_t step = WrappingMultiply(host_.layout().stride(dim), step_);
    for (int64_t i = 0; i < shown; ++i) {
      const int64_t index = i < edge_ ? i : size - shown + i;
      Read(dim + 1, bit + WrappingMultiply(index, step));
    }
  }

  void MakeTexts() {
    if (std::holds_alternative<double>(values_[0])) {
      texts_ = FormatFloats(All<double>(), &width_);
    } else if (std::holds_alternative<std::complex<double>>(values_[0])) {
      texts_ = FormatComplex(All<std::complex<double>>(), &width_);
    } else {
      for (const ElementValue& value : values_) texts_.push_back(PlainText(value));
      for (const std::string& text : texts_) width_ = std::max(width_, text.size());
      for (std::string& text : texts_) text = RightAligned(text, width_);
    }
  }

  template <typename T>
  std::vector<T> All() const {
    std::vector<T> all;
    all.reserve(values_.size());
    for (const ElementValue& value : values_) all.push_back(std::get<T>(value));
    return all;
  }

  std::string Write(int dim, int indent) {
    const int rank = tensor_.rank();
    if (dim == rank) return texts_[next_++];
    if (dim == rank - 1) return WriteRow(dim, indent);
    std::vector<std::string> parts;
    parts.reserve(Shown(dim) + 1);
    for (int64_t i = 0; i < Shown(dim); ++i) parts.push_back(Write(dim + 1, indent + 1));
    if (IsCut(dim)) parts.insert(parts.begin() + kEdgeItems, "...");
    const std::string between =
        absl::StrCat(",", std::string(rank - dim - 1, '\n'), std::string(indent + 1, ' '));
    return absl::StrCat("[", absl::StrJoin(parts, between), "]");
  }

  std::string WriteRow(int dim, int indent) {
    std::vector<std::string> items(texts_.begin() + next_, texts_.begin() + next_ + Shown(dim));
    next_ += Shown(dim);
    if (IsCut(dim)) items.insert(items.begin() + kEdgeItems, " ...");
    const auto per_line =
        static_cast<size_t>(std::max(1, (kLineWidth - indent) / (static_cast<int>(width_) + 2)));
    std::string row = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != 0) {
        row += i % per_line == 0 ? absl::StrCat(",\n", std::string(indent + 1, ' ')) : ", ";
      }
      row += items[i];
    }
    return row + "]";
  }

  const Tensor& tensor_;
  const Tensor& host_;
  const int64_t edge_;
  const int64_t step_;  // bits from one element to the next
  std::vector<ElementValue> values_;
  std::vector<std::string> texts_;
  size_t width_ = 1;
  int64_t next_ = 0;  // index in texts_ of the next text to write
};

// Appends `words` and the closing bracket. A word that does not fit the line starts a new one.
std::string Close(std::string text, const std::vector<std::string>& words) {
  const size_t line_break = text.rfind('\n');
  size_t line = text.size() - (line_break == std::string::npos ? 0 : line_break + 1) + 2;
  for (const std::string& word : words) {
    if (line + word.size() + 2 > kLineWidth) {
      absl::StrAppend(&text, ",\n", std::string(kPrefix.size(), ' '), word);
      line = kPrefix.size() + word.size();
    } else {
      absl::StrAppend(&text, ", ", word);
      line += word.size() + 2;
    }
  }
  return text + ")";
}

// Copies the first and the last elements of each dimension from `dim` on in which `edges` is
// smaller.
absl::Status CopyEdges(const Tensor& tensor, Tensor edges, int dim) {
  while (dim < tensor.rank() && edges.layout().shape(dim) == tensor.layout().shape(dim)) ++dim;
  if (dim == tensor.rank()) return CopyInto(edges, tensor);
  for (const SliceSpec& part : {SliceSpec{.stop = kEdgeItems}, SliceSpec{.start = -kEdgeItems}}) {
    const absl::StatusOr<Tensor> from = tensor.Slice(dim, part);
    absl::StatusOr<Tensor> to = edges.Slice(dim, part);
    if (!from.ok()) return from.status();
    if (!to.ok()) return to.status();
    if (absl::Status s = CopyEdges(*from, *std::move(to), dim + 1); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// The elements that are shown of a large tensor, in the CPU's memory.
absl::StatusOr<Tensor> EdgesOnHost(const Tensor& tensor) {
  std::vector<int64_t> shape;
  for (int64_t size : tensor.shape()) shape.push_back(std::min(size, 2 * kEdgeItems));
  absl::StatusOr<Tensor> edges = Tensor::Empty(shape, tensor.dtype());
  if (!edges.ok()) return edges;
  if (absl::Status s = CopyEdges(tensor, *edges, 0); !s.ok()) return s;
  return edges;
}

// The tensor, or what is shown of it, in memory that the host can read. Waits for the pending work.
absl::StatusOr<Tensor> OnHost(const Tensor& tensor) {
  const DeviceType type = tensor.device().type;
  if (!IsHostAccessible(type)) {
    if (tensor.num_elements() > kThreshold) {
      absl::StatusOr<Tensor> edges = EdgesOnHost(tensor);
      if (edges.ok()) return edges;  // not where parts of packed elements begin within a byte
    }
    return Copied(tensor, {.device = Device::Cpu()});
  }
  if (absl::Status s = internal_tensor::ReadyHost(tensor); !s.ok()) return s;
  return tensor;
}

bool HasDefaultType(DType dtype) {
  return dtype == kFloat32 || dtype == kInt64 || dtype == kBool || dtype == kComplex64;
}

}  // namespace

std::string FormatValues(const Tensor& tensor, std::string_view mark) {
  if (tensor.is_null()) return "null tensor";
  const DType dtype = tensor.dtype();
  const std::string type = absl::StrCat("dtype=dovetail.", dtype.ToString());
  const std::string device = absl::StrCat("device='", tensor.device().ToString(), "'");
  const std::string shape = ShapeToString(tensor.shape());
  std::vector<std::string> words;
  if (tensor.device() != Device::Cpu()) words.push_back(device);
  std::string text(kPrefix);
  if (tensor.num_elements() == 0) {
    text += "[]";
    if (tensor.rank() != 1) words.push_back(absl::StrCat("size=", shape));
    if (dtype != kFloat32) words.push_back(type);
  } else {
    const bool has_numbers = dtype.lanes == 1 && dtype.kind != TypeKind::kHandle;
    const absl::StatusOr<Tensor> on_host =
        has_numbers ? OnHost(tensor) : absl::UnimplementedError("no numbers");
    if (!on_host.ok()) {
      return Close(text + "...", {absl::StrCat("shape=", shape), type, device});
    }
    text += ValueWriter(tensor, *on_host).Write();
    if (!HasDefaultType(dtype)) words.push_back(type);
  }
  if (!mark.empty()) words.emplace_back(mark);
  return Close(std::move(text), words);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
