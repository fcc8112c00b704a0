// What a check is told and what it tells. A check runs in a child process, which ends with it.
//
//   void Flags(Check& c) {
//     c.Step("exports a plain array");
//     …
//     c.Expect(flags == 0, Text("the flags are ", flags));
//   }
//
// A check that returns has found that the rule is kept. A verdict ends the process: no destructor
// runs, and the library needs no exceptions.

#ifndef DLPACK_CONFORMANCE_CHECK_H_
#define DLPACK_CONFORMANCE_CHECK_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

enum class Status { kKept, kBroken, kCrashed, kNotApplicable };

class Check {
 public:
  // `pipe` is where records go (child.h).
  Check(const AnyLibrary& library, int pipe) : library_(library), pipe_(pipe) {}
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  const AnyLibrary& library() const { return library_; }

  // What the check does from now on: a crash is reported with it.
  void Step(std::string_view doing);
  // Adds a struct, as it is now, to the report.
  void Show(const Managed& managed);

  [[noreturn]] void Kept(std::string_view seen = {});
  [[noreturn]] void Broken(std::string_view seen);
  [[noreturn]] void NotApplicable(std::string_view reason);
  void Expect(bool condition, std::string_view seen) {
    if (!condition) Broken(seen);
  }

 private:
  const AnyLibrary& library_;
  int pipe_;
};

// The parts of a record on the pipe: a letter, the size of the text, the text.
namespace records {
inline constexpr char kStep = 's', kStruct = 'm', kKept = 'k', kBroken = 'b', kNotApplicable = 'n';
}  // namespace records

// Writes a record; for signal handlers, too.
void WriteRecord(int pipe, char letter, std::string_view text);

// The pipe of this process's check, for signal handlers.
int PipeOfThisProcess();

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_CHECK_H_
