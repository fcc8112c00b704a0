// The file of --json: every repetition, in Google Benchmark's JSON format. (The library's own
// --benchmark_out begins a new file with each call of RunSpecifiedBenchmarks; this is one document
// for all of them.)
//
//   JsonFile file(command_line.json);
//   if (!file.is_good()) return 1;
//   file.ReportContext(context); file.ReportRuns(runs); …       // from a BenchmarkReporter
//   file.Finish();

#ifndef DOVETAIL_BENCHMARKS_HARNESS_JSON_FILE_H_
#define DOVETAIL_BENCHMARKS_HARNESS_JSON_FILE_H_

#include <fstream>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"

namespace dovetail_benchmarks {

class JsonFile {
 public:
  using Reporter = benchmark::BenchmarkReporter;

  // With an empty path, nothing is written. Reports to stderr if the file can't be opened.
  explicit JsonFile(const std::string& path);

  bool is_good() const { return is_good_; }

  void ReportContext(const Reporter::Context& context);  // all calls but the first are ignored
  void ReportRuns(const std::vector<Reporter::Run>& runs);
  void Finish();  // completes the document

 private:
  std::ofstream stream_;
  benchmark::JSONReporter reporter_;
  bool is_good_ = true;
  bool has_begun_ = false;
};

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_JSON_FILE_H_
