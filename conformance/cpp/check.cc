#include "dlpack_conformance/check.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "dlpack_conformance/describe.h"

namespace dlpack_conformance {
namespace {

int pipe_of_this_process = -1;

void WriteAll(int pipe, const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(pipe, bytes, size);
    if (written <= 0) _exit(2);
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

[[noreturn]] void End(int pipe, char letter, std::string_view text) {
  WriteRecord(pipe, letter, text);
  _exit(0);
}

}  // namespace

void WriteRecord(int pipe, char letter, std::string_view text) {
  const uint32_t size = static_cast<uint32_t>(text.size());
  WriteAll(pipe, &letter, 1);
  WriteAll(pipe, &size, sizeof size);
  WriteAll(pipe, text.data(), size);
}

int PipeOfThisProcess() { return pipe_of_this_process; }

void Check::Step(std::string_view doing) {
  pipe_of_this_process = pipe_;
  WriteRecord(pipe_, records::kStep, doing);
}

void Check::Show(const Managed& managed) {
  WriteRecord(pipe_, records::kStruct, Describe(managed));
}

void Check::Kept(std::string_view seen) { End(pipe_, records::kKept, seen); }
void Check::Broken(std::string_view seen) { End(pipe_, records::kBroken, seen); }
void Check::NotApplicable(std::string_view reason) { End(pipe_, records::kNotApplicable, reason); }

}  // namespace dlpack_conformance
