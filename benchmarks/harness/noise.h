// Names the benchmarks whose repetitions differ so much that their times are not to be trusted.
//
//   Noise noise;
//   noise.Add("slice/dovetail", nanoseconds);     // each repetition
//   std::fputs(noise.Warning().c_str(), stdout);

#ifndef DOVETAIL_BENCHMARKS_HARNESS_NOISE_H_
#define DOVETAIL_BENCHMARKS_HARNESS_NOISE_H_

#include <map>
#include <string>
#include <vector>

namespace dovetail_benchmarks {

class Noise {
 public:
  void Add(const std::string& benchmark, double time) { times_[benchmark].push_back(time); }

  // A paragraph with a line for each benchmark whose quartiles are further apart than 10 % of the
  // median. Empty if there is none. Benchmarks with fewer than four repetitions are not judged.
  std::string Warning() const;

 private:
  std::map<std::string, std::vector<double>> times_;
};

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_NOISE_H_
