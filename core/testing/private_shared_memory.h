// An empty /dev/shm of this process and its later children alone, of any size.
//
//   if (!MountPrivateSharedMemory("size=1m")) GTEST_SKIP() << kNeedsMounts;
//
// Other tests that run at the same time neither see its files nor fill it. It goes when the last of
// the processes ends. Call it before the process makes shared memory. False if the process may not
// mount; root may.

#ifndef DOVETAIL_CORE_TESTING_PRIVATE_SHARED_MEMORY_H_
#define DOVETAIL_CORE_TESTING_PRIVATE_SHARED_MEMORY_H_

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

#include <set>
#include <string>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

inline constexpr char kNeedsMounts[] = "only root may mount a /dev/shm";

// `options` are those of tmpfs.
inline bool MountPrivateSharedMemory(const std::string& options) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", "/dev/shm", "tmpfs", 0, options.c_str()) == 0;
}

// The names of its files.
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
