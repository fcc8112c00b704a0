#include "dovetail/core/ipc/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

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

std::string PathOf(SegmentName name) {
  return FileName(name.process, absl::StrCat(absl::Hex(name.number)));
}

absl::Status Gone() {
  return absl::FailedPreconditionError(
      "The memory that the handle names is gone, or was never on this machine: the process that "
      "shared it has released it, or has ended. Keep the tensor there until it is opened here.");
}

}  // namespace

// The header before the data. Other processes of this user may write to it, so that each field is
// read once and checked.
struct Segment::Head {
  uint64_t magic;
  SegmentKind kind;
  uint32_t unused;
  uint64_t nbytes;
  uint64_t process;
  uint64_t number;
  std::atomic<uint64_t> closed;
  uint64_t reserved[2];
  Borrower borrowers[kMostBorrowers];
};

namespace {

constexpr size_t kDataOffset = 4096;  // a page, so that the data are aligned
static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace

// The open segments of this process, guarded by StateMutex.
struct Segment::Tables {
  std::map<SegmentName, std::weak_ptr<Segment>> by_name;
  std::map<const char*, std::weak_ptr<Segment>> by_address;
  uint64_t last_number = 0;
};

Segment::Tables& Segment::GetTables() {
  static Tables* const tables = new Tables;  // never destroyed, like the state of tokens
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

Segment::Segment(SegmentName name, Head* head, size_t nbytes, bool made)
    : name_(name), head_(head), nbytes_(nbytes), mapped_by_(getpid()), made_(made) {}

void* Segment::data() const { return reinterpret_cast<char*>(head_) + kDataOffset; }

bool Segment::is_mine() const { return made_ && mapped_by_ == getpid(); }

bool Segment::can_be_opened() const { return access(PathOf(name_).c_str(), F_OK) == 0; }

Segment::~Segment() {
  {
    const std::lock_guard lock(StateMutex());
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
  if (make) {
    head->kind = kind;
    head->nbytes = nbytes;
    head->process = static_cast<uint64_t>(name.process);
    head->number = name.number;
    head->magic = kMagic;
  } else if (head->magic != kMagic || head->process != static_cast<uint64_t>(name.process) ||
             head->number != name.number || head->nbytes != nbytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        PathOf(name), " is no memory of this version of Dovetail, or was written over."));
  } else if (head->kind != kind) {
    return absl::FailedPreconditionError(
        "The handle names another kind of device than the one that has the memory.");
  }
  std::shared_ptr<Segment> segment(new Segment(name, head, nbytes, make));
  std::move(unmap).Cancel();
  const std::lock_guard lock(StateMutex());
  GetTables().by_address[static_cast<const char*>(segment->data())] = segment;
  GetTables().by_name[name] = segment;
  return segment;
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Create(SegmentKind kind, size_t nbytes) {
  if (nbytes > PTRDIFF_MAX - kDataOffset) {
    return absl::ResourceExhaustedError(
        absl::StrCat("A shared memory of ", nbytes, " bytes is more than there are addresses."));
  }
  absl::StatusOr<ProcessToken> token = MyProcess();
  if (!token.ok()) return token.status();
  SegmentName name{*token, 0};
  {
    const std::lock_guard lock(StateMutex());
    name.number = ++GetTables().last_number;
  }
  const std::string path = PathOf(name);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return absl::UnavailableError(
        absl::StrCat("A file in ", kFolder, " can't be made: ", std::strerror(errno), "."));
  }
  const absl::Cleanup close_file = [&] { close(file); };
  absl::Cleanup unlink_file = [&] { unlink(path.c_str()); };
  int error;
  do {
    error = posix_fallocate(file, 0, static_cast<off_t>(kDataOffset + nbytes));
  } while (error == EINTR);
  if (error != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "Out of shared memory: ", nbytes, " bytes could not be allocated in ", kFolder, ": ",
        std::strerror(error), " (in a container, --shm-size sets how much there is)."));
  }
  absl::StatusOr<std::shared_ptr<Segment>> made = Map(name, kind, file, nbytes, true);
  if (made.ok()) std::move(unlink_file).Cancel();
  return made;
}

std::shared_ptr<Segment> Segment::FindOpen(SegmentName name) {
  const std::lock_guard lock(StateMutex());
  const auto found = GetTables().by_name.find(name);
  return found == GetTables().by_name.end() ? nullptr : found->second.lock();
}

absl::StatusOr<std::shared_ptr<Segment>> Segment::Open(SegmentName name, SegmentKind kind) {
  if (std::shared_ptr<Segment> open = FindOpen(name); open != nullptr) {
    if (open->head_->kind == kind) return open;
    return absl::FailedPreconditionError(
        "The handle names another kind of device than the one that has the memory.");
  }
  const int file = open(PathOf(name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 && errno == ENOENT) return Gone();
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name), " can't be opened: ", std::strerror(errno),
                     " (memory is shared among processes of one user)."));
  }
  const absl::Cleanup close_file = [&] { close(file); };
  struct stat facts;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name), " belongs to another user, or is no ordinary file."));
  }
  uint64_t head[3];
  if (facts.st_size < static_cast<off_t>(kDataOffset) ||
      pread(file, head, sizeof head, 0) != sizeof head ||
      head[2] != static_cast<uint64_t>(facts.st_size) - kDataOffset) {
    return absl::FailedPreconditionError(
        absl::StrCat(PathOf(name), " has ", facts.st_size,
                     " bytes, which is not what its head says: it was "
                     "cut short, or was never whole."));
  }
  if (!IsAlive(name.process)) return Gone();
  return Map(name, kind, file, facts.st_size - kDataOffset, false);
}

std::shared_ptr<Segment> Segment::FindAt(const void* p) {
  std::shared_ptr<Segment> segment;  // destroyed after the unlock, since its destructor locks
  const std::lock_guard lock(StateMutex());
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
    // All threads of this process use one entry.
    static std::mutex* const mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
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
