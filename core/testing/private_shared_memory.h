// Runs a test in a process that has an empty /dev/shm of its own, of any size.
//
//   InPrivateSharedMemory("size=1m", [] { EXPECT_FALSE(…); });
//
// Other tests that run at the same time neither see its files nor fill it. It goes when the last of
// the process's children ends. Who may not mount it, skips the test; root may. The tests are in
// targets with the tag "no-sandbox", since in the sandbox nobody may.

#ifndef DOVETAIL_CORE_TESTING_PRIVATE_SHARED_MEMORY_H_
#define DOVETAIL_CORE_TESTING_PRIVATE_SHARED_MEMORY_H_

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string>

#include "dovetail/core/config.h"
#include "dovetail/core/testing/child_process.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Runs `body` in a child process, which is killed after 60 s. What fails there is printed, and
// fails the test here.
inline void InChild(const std::function<void()>& body) {
  ChildProcess child([&](Channel&) {
    alarm(60);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_EQ(child.Join(), 0);
}

// `options` are those of tmpfs. False if the process may not mount.
inline bool MountPrivateSharedMemory(const std::string& options) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", 0, options.c_str()) == 0;
}

inline void InPrivateSharedMemory(const std::string& options, const std::function<void()>& body) {
  ChildProcess child([&](Channel& parent) {
    alarm(60);
    parent.Send(MountPrivateSharedMemory(options));
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  if (!child.Receive<bool>()) {
    child.Kill();
    GTEST_SKIP() << "only root may mount a /dev/shm";
  }
  EXPECT_EQ(child.Join(), 0);
}

// The names of the files in /dev/shm.
inline std::set<std::string> SharedMemoryFiles() {
  std::set<std::string> names;
  DIR* folder = opendir("/dev/shm");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') names.insert(entry->d_name);
  }
  closedir(folder);
  return names;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_PRIVATE_SHARED_MEMORY_H_
