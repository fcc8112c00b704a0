#include "dlpack_conformance/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

constexpr int kSeconds = 30;
constexpr int kLines = 5;  // of stderr that are shown

// All bytes until the other end is closed. Returns false if that takes too long.
bool ReadAll(int pipe, std::string* bytes) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(kSeconds);
  char buffer[4096];
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready = {pipe, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t size = read(pipe, buffer, sizeof buffer);
    if (size <= 0) return true;
    bytes->append(buffer, static_cast<size_t>(size));
  }
}

std::string FirstLines(std::FILE* file) {
  std::string text;
  if (std::fseek(file, 0, SEEK_SET) != 0) return text;
  int lines = 0;
  for (int c; lines < kLines && (c = std::fgetc(file)) != EOF;) {
    text += static_cast<char>(c);
    if (c == '\n') ++lines;
  }
  return text;
}

// Applies the records. Returns whether there is a verdict; `step` receives the last step.
bool Decode(const std::string& bytes, Outcome* outcome, std::string* step) {
  bool decided = false;
  uint32_t size = 0;
  constexpr size_t kHead = 1 + sizeof size;
  for (size_t at = 0; at + kHead <= bytes.size(); at += kHead + size) {
    std::memcpy(&size, &bytes[at + 1], sizeof size);
    const std::string text = bytes.substr(at + kHead, size);
    if (bytes[at] == records::kStep) {
      *step = text;
    } else if (bytes[at] == records::kStruct) {
      outcome->structs.push_back(text);
    } else {
      decided = true;
      outcome->seen = text;
      outcome->status = bytes[at] == records::kKept     ? Status::kKept
                        : bytes[at] == records::kBroken ? Status::kBroken
                                                        : Status::kNotApplicable;
    }
  }
  return decided;
}

std::string HowItEnded(int status) {
  return WIFSIGNALED(status) ? Text(strsignal(WTERMSIG(status)), " (signal ", WTERMSIG(status), ")")
                             : Text("exit status ", WEXITSTATUS(status));
}

}  // namespace

Outcome RunInChild(const AnyLibrary& library, const CheckFunction& check) {
  Outcome outcome;
  int ends[2];
  std::FILE* errors = std::tmpfile();
  std::fflush(nullptr);
  const bool open = errors != nullptr && pipe(ends) == 0;
  const pid_t child = open ? fork() : -1;
  if (child < 0) {
    outcome.status = Status::kCrashed;
    outcome.seen = Text("the suite can't start a process: ", std::strerror(errno));
    return outcome;
  }
  if (child == 0) {
    close(ends[0]);
    dup2(fileno(errors), STDERR_FILENO);
    Check context(library, ends[1]);
    context.Step("begins");
    check(context);
    context.Kept();
  }
  close(ends[1]);
  std::string bytes, step;
  const bool in_time = ReadAll(ends[0], &bytes);
  if (!in_time) kill(child, SIGKILL);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool decided = Decode(bytes, &outcome, &step);
  if (!decided || WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
    outcome.status = Status::kCrashed;
    outcome.seen = in_time ? Text("the process ends with ", HowItEnded(status), " while it ", step)
                           : Text("the process does not end in ", kSeconds, " s while it ", step);
    outcome.errors = FirstLines(errors);
  }
  std::fclose(errors);
  return outcome;
}

}  // namespace dlpack_conformance
