#include "benchmarks/harness/json_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dovetail_benchmarks {

JsonFile::JsonFile(const std::string& path) {
  if (path.empty()) return;
  stream_.open(path);
  if (!stream_) {
    std::fprintf(stderr, "%s can't be written: %s\n", path.c_str(), std::strerror(errno));
    is_good_ = false;
  }
  reporter_.SetOutputStream(&stream_);
}

void JsonFile::ReportContext(const Reporter::Context& context) {
  if (!stream_.is_open() || has_begun_) return;
  has_begun_ = reporter_.ReportContext(context);
}

void JsonFile::ReportRuns(const std::vector<Reporter::Run>& runs) {
  if (has_begun_) reporter_.ReportRuns(runs);
}

void JsonFile::Finish() {
  if (!stream_.is_open()) return;
  if (has_begun_) {
    reporter_.Finalize();
  } else {
    stream_ << "{\"context\": {}, \"benchmarks\": []}\n";
  }
  stream_.close();
}

}  // namespace dovetail_benchmarks
