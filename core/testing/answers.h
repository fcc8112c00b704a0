// Helpers for tests of long work: they set the number of threads and say when the work should stop.
//
//   const ScopedNumThreads threads(2);
//   Answers answers{.no = 1};                                    // once no, then yes
//   const ScopedInterruption scope(Answers::Ask, &answers);
//   EXPECT_FALSE(…);
//   EXPECT_EQ(answers.asked, 2);
//
// Answers apply to the thread of the scope. The number of threads applies to the whole process.

#ifndef DOVETAIL_CORE_TESTING_ANSWERS_H_
#define DOVETAIL_CORE_TESTING_ANSWERS_H_

#include "dovetail/core/config.h"
#include "dovetail/core/internal/threads/parallel.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct Answers {
  int no;
  int asked = 0;
  static bool Ask(void* self) {
    auto& answers = *static_cast<Answers*>(self);
    return ++answers.asked > answers.no;
  }
};

class ScopedNumThreads {
 public:
  explicit ScopedNumThreads(int count) { SetNumThreads(count).IgnoreError(); }
  ~ScopedNumThreads() { SetNumThreads(before_).IgnoreError(); }
  ScopedNumThreads(const ScopedNumThreads&) = delete;
  ScopedNumThreads& operator=(const ScopedNumThreads&) = delete;

 private:
  const int before_ = GetNumThreads();
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_ANSWERS_H_
