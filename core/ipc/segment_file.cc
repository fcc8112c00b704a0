#include "dovetail/core/ipc/segment_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/ipc/participants.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint64_t kMagic = 0x334c4f4f'50545644;  // "DVTPOOL3"
constexpr uint64_t kMostGranules = UINT32_MAX;
constexpr size_t kPage = 4096;

size_t ToPages(size_t nbytes) { return (nbytes + kPage - 1) / kPage * kPage; }

// 0 or an error of errno.h.
int TryReservePages(int file, size_t offset, size_t nbytes) {
  // Older kernels give up when a signal arrives, and take all pages back. Signals that come often
  // would keep a large file from ever being made, so they wait. (One call for all pages: it fails
  // at once if they are more than the folder may have.)
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error;
  do {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(nbytes));
  } while (error == EINTR);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

absl::Status OutOfMemory(size_t nbytes, int error) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "Out of shared memory: ", nbytes, " bytes could not be allocated in ", kFolder, ": ",
      std::strerror(error), " (in a container, --shm-size sets how much there is)."));
}

// Sets the size of a new file and writes its head.
absl::Status Initialize(const SegmentFile& file) {
  const SegmentParts parts(file.granules);
  if (!MayWriteTo(parts.nbytes)) return OutOfMemory(parts.nbytes, EFBIG);
  if (ftruncate(file.descriptor, static_cast<off_t>(parts.nbytes)) != 0) {
    return OutOfMemory(parts.nbytes, errno);
  }
  if (absl::Status s = ReservePages(file.descriptor, 0, parts.headers); !s.ok()) return s;
  const SegmentFacts facts = {.magic = kMagic,
                              .kind = file.kind,
                              .unused = 0,
                              .granules = file.granules,
                              .name = file.name};
  if (pwrite(file.descriptor, &facts, sizeof facts, 0) != sizeof facts) {
    return OutOfMemory(sizeof facts, errno);
  }
  return absl::OkStatus();
}

// Such names are odd, so that no file takes the place of one of the other kind.
bool IsAnonymous(SegmentName name) { return (name.number & 1) != 0; }

// These set the name and the descriptor.
absl::Status MakeAnonymous(SegmentFile& made) {
  absl::StatusOr<uint64_t> first = RandomNumber(), second = RandomNumber();
  if (!first.ok() || !second.ok()) return first.ok() ? second.status() : first.status();
  made.name = {.process = ProcessToken{*first}, .number = *second | 1};  // nobody's
  made.descriptor = memfd_create("dovetail", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made.descriptor >= 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("An anonymous file can't be made: ", std::strerror(errno), "."));
}

absl::Status MakeNamed(SegmentFile& made) {
  absl::StatusOr<ProcessToken> token = MyProcess();
  if (!token.ok()) return token.status();
  absl::StatusOr<int> file = absl::AbortedError("");
  for (int attempt = 0; attempt < 100 && absl::IsAborted(file.status()); ++attempt) {
    // All users can list names. One that follows from the last could be taken by another user.
    absl::StatusOr<uint64_t> number = RandomNumber();
    if (!number.ok()) return number.status();
    made.name = {.process = *token, .number = *number & ~uint64_t{1}};
    file = MakeFile(PathOf(made.name));
  }
  if (!file.ok()) return absl::UnavailableError(file.status().message());
  made.descriptor = *file;
  return absl::OkStatus();
}

// `what` names the file in errors.
absl::StatusOr<SegmentFacts> ReadFacts(int file, std::string_view what) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " belongs to another user, or is no ordinary file."));
  }
  // Read, not mapped: a file that is cut short meanwhile is an error here and no SIGBUS.
  SegmentFacts facts;
  const bool is_read = pread(file, &facts, sizeof facts, 0) == sizeof facts;
  if (is_read && facts.magic != kMagic) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " is no memory of this version of Dovetail, or was written over."));
  }
  if (!is_read || facts.granules == 0 || facts.granules > kMostGranules ||
      SegmentParts(facts.granules).nbytes != static_cast<uint64_t>(status.st_size)) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " has ", status.st_size, " bytes, which is not what its head says: it ",
                     "was cut short, or was never whole."));
  }
  return facts;
}

}  // namespace

FilePath PathOf(SegmentName name) noexcept { return {name.process, name.number}; }

SegmentParts::SegmentParts(uint64_t granules) {
  table = ToPages(sizeof(SegmentHead));
  headers = table + SlotTable::BytesBeforeHeaders(granules);
  data = ToPages(table + SlotTable::BytesFor(granules));
  nbytes = data + granules * kGranuleBytes;
}

absl::Status SegmentGoneError() {
  return absl::FailedPreconditionError(
      "The memory that the handle or message names is gone, or was never here: the process that made "
      "it has released it, or has ended, or has another /dev/shm (a container's; a pool with "
      "memfd=True serves that). Keep it there until it is opened here.");
}

absl::Status ReleasedError() {
  return absl::FailedPreconditionError(
      "The memory that the handle or message names is gone: whoever had it has released it. Keep the "
      "tensor until it is opened here, or say how often its message will be opened (opens=1).");
}

absl::Status OtherKindError() {
  return absl::FailedPreconditionError(
      "The handle names another kind of device than the one that has the memory.");
}

bool MayWriteTo(size_t end) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || end <= limit.rlim_cur;
}

absl::Status ReservePages(int file, size_t offset, size_t nbytes) {
  const int error = TryReservePages(file, offset, nbytes);
  return error == 0 ? absl::OkStatus() : OutOfMemory(nbytes, error);
}

absl::StatusOr<SegmentFile> MakeSegmentFile(uint64_t granules, SegmentKind kind,
                                            SegmentBacking backing) {
  if (granules > kMostGranules) {
    return absl::ResourceExhaustedError(absl::StrCat("A shared memory of ", granules, " times ",
                                                     kGranuleBytes, " bytes can't be made in ",
                                                     kFolder, ": the most is 16 TiB."));
  }
  SegmentFile made = {
      .descriptor = -1, .name = {}, .kind = kind, .backing = backing, .granules = granules};
  const bool is_anonymous = backing == SegmentBacking::kAnonymous;
  if (absl::Status s = is_anonymous ? MakeAnonymous(made) : MakeNamed(made); !s.ok()) return s;
  absl::Status status = Initialize(made);
  if (status.ok() && is_anonymous) {
    fchmod(made.descriptor, 0600);
    fcntl(made.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  }
  if (status.ok()) return made;
  close(made.descriptor);
  if (!is_anonymous) unlink(PathOf(made.name).c_str());
  return status;
}

absl::StatusOr<SegmentFile> OpenSegmentFile(SegmentName name) {
  if (IsAnonymous(name)) {
    return absl::FailedPreconditionError(
        "The memory is of an anonymous pool (memfd=True) that this process has not attached, or has "
        "dropped: receive its descriptor and call Pool.from_fd(), in C++ Pool::Attach().");
  }
  const FilePath path = PathOf(name);
  const int file = OpenFile(path);
  if (file < 0 && errno == ENOENT) return SegmentGoneError();
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path.c_str(), " can't be opened: ", std::strerror(errno),
                     " (memory is shared among processes of one user)."));
  }
  absl::Cleanup close_file = [&] { close(file); };
  absl::StatusOr<SegmentFacts> facts = ReadFacts(file, path.c_str());
  if (!facts.ok()) return facts.status();
  if (facts->name != name) {
    return absl::FailedPreconditionError(absl::StrCat(
        path.c_str(), " is no memory of this version of Dovetail, or was written over."));
  }
  if (!IsTaken(file, kMaker)) return SegmentGoneError();
  std::move(close_file).Cancel();
  return SegmentFile{.descriptor = file,
                     .name = name,
                     .kind = facts->kind,
                     .backing = SegmentBacking::kNamed,
                     .granules = facts->granules};
}

int OpenOnceMore(SegmentName name, SegmentBacking backing, int open_file) {
  const int file = OpenAgain(open_file);
  if (file >= 0 || backing == SegmentBacking::kAnonymous) return file;
  return OpenFile(PathOf(name));  // there is no /proc
}

absl::StatusOr<SegmentFile> CheckSegmentFile(int received) {
  const int file = OpenAgain(received);
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("The file descriptor ", received,
                     " can't be opened again by /proc/self/fd: ", std::strerror(errno), "."));
  }
  absl::Cleanup close_file = [&] { close(file); };
  absl::StatusOr<SegmentFacts> facts =
      ReadFacts(file, absl::StrCat("The file of descriptor ", received));
  if (!facts.ok()) return facts.status();
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (!IsAnonymous(facts->name) || (fcntl(file, F_GET_SEALS) & kSeals) != kSeals) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The file descriptor ", received, " is not that of an anonymous pool (memfd=True)."));
  }
  std::move(close_file).Cancel();
  return SegmentFile{.descriptor = file,
                     .name = facts->name,
                     .kind = facts->kind,
                     .backing = SegmentBacking::kAnonymous,
                     .granules = facts->granules};
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
