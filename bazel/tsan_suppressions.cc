// What ThreadSanitizer reports though it is no race. It calls this function when a test starts.

extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  // A thread that unlocks an absl::Mutex wakes a waiting thread by the identity which that thread
  // left in the mutex. ThreadSanitizer is told to ignore what a mutex does inside, which hides the
  // hand-over from it; releases of abseil from 2023 on hide this access, too.
  return "race:absl::*::Mutex::IncrementSynchSem\n";
}
