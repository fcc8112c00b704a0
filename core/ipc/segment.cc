#include "dovetail/core/ipc/segment.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint64_t kMagic = 0x31474553'56545644;  // "DVTVSEG1"

// A borrower and its number of uses. Only that process changes the count.
struct Borrower {
  std::atomic<uint64_t> process;
  std::atomic<uint64_t> count;
};

FilePath PathOf(SegmentName name) noexcept {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), name.number, 16).ptr;
  return {name.process, std::string_view(digits.data(), end - digits.begin())};
}

absl::Status Gone() {
  return absl::FailedPreconditionError(
      "The memory that the handle names is gone, or was never on this machine: the process that "
      "shared it has released it, or has ended. Keep the tensor there until it is opened here.");
}

absl::Status OtherKind() {
  return absl::FailedPreconditionError(
      "The handle names another kind of device than the one that has the memory.");
}

// The first part of the header. Other processes of this user may write to it, so that it is read
// once, and checked.
struct Facts {
  uint64_t magic;
  SegmentKind kind;
  uint32_t unused;
  uint64_t nbytes;
  uint64_t process;
  uint64_t number;
};

}  // namespace

// The header before the data.
struct Segment::Head {
  Facts facts;
  std::atomic<uint64_t> closed;
  uint64_t reserved[2];
  Borrower borrowers[kMostBorrowers];
};

namespace {

constexpr size_t kDataOffset = 4096;  // a page, so that the data are aligned
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Gives `file` `nbytes` bytes and their pages. Returns 0 or an error of errno.h.
int ReservePages(int file, size_t nbytes) {
  // Beyond the limit of file sizes, the process would get a SIGXFSZ.
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && nbytes > limit.rlim_cur) return EFBIG;
  // Older kernels give up when a signal arrives, and take all pages back. Signals that come often
  // would keep a large file from ever being made, so they wait. (One call for all pages: it fails
  // at once if they are more than the folder may have.)
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error;
  do {
    error = posix_fallocate(file, 0, static_cast<off_t>(nbytes));
  } while (error == EINTR);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace

// The open segments of this process.
struct Segment::Tables {
  std::map<SegmentName, std::weak_ptr<Segment>> by_name ABSL_GUARDED_BY(StateMutex());
  std::map<const char*, std::weak_ptr<Segment>> by_address ABSL_GUARDED_BY(StateMutex());
};

// Never destroyed, like the state of tokens. It takes no memory from the heap, so that the last
// segment can always be removed.
Segment::Tables& Segment::GetTables() {
  alignas(Tables) static std::byte place[sizeof(Tables)];
  static Tables* const tables = new (place) Tables;
  return *tables;
}

std::string SegmentName::ToBytes() const {
  std::string bytes(sizeof *this, '\0');
  std::memcpy(bytes.data(), this, sizeof *this);
  return bytes;
}

absl::StatusOr<SegmentName> SegmentName::FromBytes(std::string_view bytes) {
  SegmentName name;
  if (bytes.size() != sizeof name) {
    return absl::FailedPreconditionError(absl::StrCat(
        "The handle's name of the memory has ", bytes.size(), " bytes instead of ", sizeof name,
        ": it was made for another kind of device, or by another version of Dovetail."));
  }
  std::memcpy(&name, bytes.data(), sizeof name);
  return name;
}

Segment::Segment(SegmentName name, SegmentKind kind, Head* head, size_t nbytes, bool made)
    : name_(name), kind_(kind), head_(head), nbytes_(nbytes), mapped_by_(getpid()), made_(made) {}

void* Segment::data() const { return reinterpret_cast<char*>(head_) + kDataOffset; }

bool Segment::is_mine() const { return made_ && mapped_by_ == getpid(); }

bool Segment::can_be_opened() const { return access(PathOf(name_).c_str(), F_OK) == 0; }

Segment::~Segment() {
  {
    const StdMutexLock lock(StateMutex());
    Tables& tables = GetTables();
    // Another thread may have opened the segment again meanwhile.
    if (const auto i = tables.by_name.find(name_);
        i != tables.by_name.end() && i->second.expired()) {
      tables.by_name.erase(i);
    }
    tables.by_address.erase(static_cast<const char*>(data()));
  }
  if (is_mine()) unlink(PathOf(name_).c_str());
  munmap(head_, kDataOffset + nbytes_);
}

// `file` stays the caller's.
absl::StatusOr<std::shared_ptr<Segment>> Segment::Map(SegmentName name, SegmentKind kind, int file,
                                                      size_t nbytes, bool make) {
  static_assert(sizeof(Head) <= kDataOffset);
  void* mapped = mmap(nullptr, kDataOffset + nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "A shared memory of ", nbytes, " bytes can't be mapped: ", std::strerror(errno), "."));
  }
  absl::Cleanup unmap = [&] { munmap(mapped, kDataOffset + nbytes); };
  auto* head = static_cast<Head*>(mapped);
  // The segment unmaps what it has, also if there is no memory for its shared_ptr.
  std::unique_ptr<Segment> owner(new Segment(name, kind, head, nbytes, make));
  std::move(unmap).Cancel();
  std::shared_ptr<Segment> segment = std::move(owner);
  if (make) {
    head->facts = {.magic = kMagic,
                   .kind = kind,
                   .nbytes = nbytes,
                   .process = static_cast<uint64_t>(name.process),
                   .number = name.number};
  }
  const StdMutexLock lock(StateMutex());
  Tables& tables = GetTables();
  std::weak_ptr<Segment>& known = tables.by_name[name];
  // Another thread may have mapped it meanwhile. `segment` is then unmapped, after the unlock.
  if (std::shared_ptr<Segment> other = known.lock()) return other;
  known = segment;
  tables.by_address[static_cast<const char*>(segment->data())] = segment;
  return segment;
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Create(SegmentKind kind, size_t nbytes) {
  if (nbytes > PTRDIFF_MAX - kDataOffset) {
    return absl::ResourceExhaustedError(
        absl::StrCat("A shared memory of ", nbytes, " bytes is more than there are addresses."));
  }
  absl::StatusOr<ProcessToken> token = MyProcess();
  if (!token.ok()) return token.status();
  // All users can list names. One that follows from the last could be taken by another user.
  absl::StatusOr<uint64_t> number = RandomNumber();
  if (!number.ok()) return number.status();
  const SegmentName name{*token, *number};
  const FilePath path = PathOf(name);
  absl::StatusOr<int> file = MakeFile(path);
  if (!file.ok()) return file.status();
  const absl::Cleanup close_file = [&] { close(*file); };
  absl::Cleanup unlink_file = [&] { unlink(path.c_str()); };
  if (const int error = ReservePages(*file, kDataOffset + nbytes); error != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "Out of shared memory: ", nbytes, " bytes could not be allocated in ", kFolder, ": ",
        std::strerror(error), " (in a container, --shm-size sets how much there is)."));
  }
  absl::StatusOr<std::shared_ptr<Segment>> made = Map(name, kind, *file, nbytes, true);
  if (made.ok()) std::move(unlink_file).Cancel();
  return made;
}

std::shared_ptr<Segment> Segment::FindOpen(SegmentName name) {
  const StdMutexLock lock(StateMutex());
  const auto found = GetTables().by_name.find(name);
  return found == GetTables().by_name.end() ? nullptr : found->second.lock();
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Open(SegmentName name, SegmentKind kind) {
  if (std::shared_ptr<Segment> open = FindOpen(name); open != nullptr) {
    if (open->kind_ == kind) return open;
    return OtherKind();
  }
  // With O_NONBLOCK, the call does not wait for whoever has a lease on the file.
  const int file = open(PathOf(name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return Gone();
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name).c_str(), " can't be opened: ", std::strerror(errno),
                     " (memory is shared among processes of one user)."));
  }
  const absl::Cleanup close_file = [&] { close(file); };
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name).c_str(), " belongs to another user, or is no ordinary file."));
  }
  // Read, not mapped: a file that is cut short meanwhile is an error here and no SIGBUS.
  Facts facts;
  if (status.st_size < static_cast<off_t>(kDataOffset) ||
      pread(file, &facts, sizeof facts, 0) != sizeof facts ||
      facts.nbytes != static_cast<uint64_t>(status.st_size) - kDataOffset) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name).c_str(), " has ", status.st_size,
                     " bytes, which is not what its head says: it was "
                     "cut short, or was never whole."));
  }
  if (!IsAlive(name.process)) return Gone();
  if (facts.magic != kMagic || facts.process != static_cast<uint64_t>(name.process) ||
      facts.number != name.number) {
    return absl::FailedPreconditionError(absl::StrCat(
        PathOf(name).c_str(), " is no memory of this version of Dovetail, or was written over."));
  }
  if (facts.kind != kind) return OtherKind();
  return Map(name, kind, file, facts.nbytes, false);
}

std::shared_ptr<Segment> Segment::FindAt(const void* p) {
  std::shared_ptr<Segment> segment;  // destroyed after the unlock, since its destructor locks
  const StdMutexLock lock(StateMutex());
  const auto& by_address = GetTables().by_address;
  auto found = by_address.upper_bound(static_cast<const char*>(p));
  if (found == by_address.begin()) return nullptr;
  segment = (--found)->second.lock();
  const auto offset = static_cast<size_t>(static_cast<const char*>(p) - found->first);
  if (segment == nullptr || offset >= segment->nbytes()) return nullptr;
  return segment;
}

absl::Status Segment::Borrow() {
  if (!is_mine() && !IsAlive(name_.process)) return Gone();
  absl::StatusOr<ProcessToken> token = MyProcess();
  if (!token.ok()) return token.status();
  const auto mine = static_cast<uint64_t>(*token);
  Borrower* place = nullptr;
  {
    const StdMutexLock lock(BorrowMutex());  // all threads of this process use one entry
    for (Borrower& b : head_->borrowers) {
      if (b.process.load() == mine) place = &b;
    }
    // A new entry, or the entry of a process that has ended.
    for (int pass = 0; pass < 2 && place == nullptr; ++pass) {
      for (Borrower& b : head_->borrowers) {
        uint64_t holder = b.process.load();
        if (holder != 0 && (pass == 0 || IsAlive(ProcessToken{holder}))) continue;
        if (!b.process.compare_exchange_strong(holder, mine)) continue;
        b.count.store(0);
        place = &b;
        break;
      }
    }
    if (place != nullptr) place->count.fetch_add(1);
  }
  if (place == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("The memory is open in ", kMostBorrowers,
                                                     " processes already, which is the most."));
  }
  // Sequentially consistent: either this sees the close, or Close sees the count.
  if (head_->closed.load() == 0) return absl::OkStatus();
  place->count.fetch_sub(1);
  return Gone();
}

void Segment::Return() noexcept {
  if (mapped_by_ != getpid()) return;
  absl::StatusOr<ProcessToken> token = MyProcess();
  for (Borrower& b : head_->borrowers) {
    if (token.ok() && b.process.load() == static_cast<uint64_t>(*token)) b.count.fetch_sub(1);
  }
}

bool Segment::Close(bool thorough) noexcept {
  head_->closed.store(1);
  bool borrowed = false;
  for (Borrower& b : head_->borrowers) {
    if (b.count.load() == 0) continue;
    if (!thorough || IsAlive(ProcessToken{b.process.load()})) borrowed = true;
  }
  return !borrowed;
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
