// DynamicLibrary: a vendor's library, opened at run time, with its functions by name. Base of the
// classes of the vendors' libraries.
//
//   class MyLibrary final : public DynamicLibrary { ... };
//   std::string reason;
//   if (!library.Load(&reason)) ... reason is for people
//
// Two copies of a vendor's runtime in one process don't know each other's handles and memory, so
// Load uses the copy that is there:
//
//   1. the file that the environment variable (LibraryTraits) names, whatever else is loaded
//   2. a copy that this process has loaded: by the names, then by its file name (loaded_objects.h)
//   3. the first of the names that the loader finds, if no copy is loaded
//
// A library that was opened stays open as long as the process, since deleters may call it until the
// end. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Whether a library may lack a function; its slot is then nullptr.
enum class Need : bool { kOptional = false, kRequired = true };

struct SymbolSlot {
  const char* name;
  void** address;  // receives the function's address
  Need need;
};

struct LibraryTraits {
  const char* product;    // for errors: "NVIDIA driver"
  const char* variable;   // the environment variable that chooses the file
  const char* hint = "";  // ends the error if no library is found
};

class DynamicLibrary {
 public:
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  // Finds, opens and starts the library. A success is final. A failure, with a reason for people,
  // is repeated until the process has loaded another shared object; then Load looks again, but
  // never starts a copy twice. The reason says which file is missing, which functions the library
  // lacks, or why it did not start.
  bool Load(std::string* reason);

  // The rest needs a successful Load.

  const std::string& file() const { return file_; }
  // file() and after it the other copies that this process has loaded.
  std::vector<std::string> Files() const;

 protected:
  explicit DynamicLibrary(const LibraryTraits& traits) : traits_(traits) {}
  ~DynamicLibrary() = default;

  // File names, the preferred one first.
  virtual std::vector<std::string> FileNames() const = 0;
  // Where each function's address goes.
  virtual std::vector<SymbolSlot> FindSlots() = 0;
  // Makes the library ready for use; its functions are in the slots. False, with a reason for
  // people, if it can't be used. Called for one copy after the other until one starts.
  virtual bool StartUp(const std::string& file, std::string* reason) = 0;

 private:
  // A copy that can't be used.
  struct Rejected {
    void* library;
    std::string reason;
  };

  // True: a library was started. False: reason_ says why none was.
  bool Find() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FindChosen(const char* file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tries each loaded copy. `*is_there` becomes true if there is one.
  bool FindLoaded(bool* is_there) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FindInstalled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts a library that dlopen returned, unless it was rejected before.
  bool Take(void* library) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string WhyNone(std::string_view problem) const;

  const LibraryTraits traits_;
  std::atomic<bool> is_loaded_ = false;
  std::string file_;  // written once, before is_loaded_
  absl::Mutex mutex_;
  std::string reason_ ABSL_GUARDED_BY(mutex_);
  std::vector<Rejected> rejected_ ABSL_GUARDED_BY(mutex_);
  uint64_t loads_ ABSL_GUARDED_BY(mutex_) = 0;  // CountLoads() before the last search
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
