#include "benchmarks/harness/noise.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace dovetail_benchmarks {
namespace {

constexpr double kHighest = 0.1;
constexpr size_t kFewest = 4;

// The distance of the quartiles, as a part of the median.
double Spread(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const size_t n = times.size();
  return (times[n - 1 - n / 4] - times[n / 4]) / times[n / 2];
}

}  // namespace

std::string Noise::Warning() const {
  std::string lines;
  for (const auto& [benchmark, times] : times_) {
    if (times.size() < kFewest) continue;
    const double spread = Spread(times);
    if (spread > kHighest)
      absl::StrAppendFormat(&lines, "  %s: %.0f %%\n", benchmark, 100 * spread);
  }
  if (lines.empty()) return "";
  return "\n***WARNING*** Noisy, not to be trusted (the middle half of the repetitions spreads over "
         "this much of the median):\n" +
         lines;
}

}  // namespace dovetail_benchmarks
