#include "dlpack_conformance/pages.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "dlpack_conformance/check.h"

namespace dlpack_conformance {
namespace {

struct Region {
  unsigned char* begin;
  size_t nbytes;
  const char* name;
  const char* what;  // how an access that faults broke the rule
};

// What the handler of signals reads. A process of a check has few.
constexpr size_t kMost = 64;
Region regions[kMost];
size_t num_regions = 0;

// Reports a forbidden access. Any other one is a crash.
void OnFault(int signal, siginfo_t* info, void*) {
  const auto* address = static_cast<unsigned char*>(info->si_addr);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < num_regions; ++i) {
    const Region& region = regions[i];
    if (address < region.begin - page || address >= region.begin + region.nbytes + page) continue;
    const bool inside = address >= region.begin && address < region.begin + region.nbytes;
    char text[200];
    const int size = std::snprintf(text, sizeof text, "%s is %s, at byte %td", region.name,
                                   inside ? region.what : "read or written outside of it",
                                   address - region.begin);
    WriteRecord(PipeOfThisProcess(), records::kBroken,
                {text, static_cast<size_t>(size < 0 ? 0 : size)});
    _exit(0);
  }
  ::signal(signal, SIG_DFL);  // the instruction runs again
}

void Observe() {
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

Pages::Pages(size_t nbytes, const char* name) : index_(num_regions) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  nbytes_ = (nbytes / page + 1) * page;
  void* mapped = mmap(nullptr, nbytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  data_ = static_cast<unsigned char*>(mapped) + page;
  if (mapped == MAP_FAILED || mprotect(data_, nbytes_, PROT_READ | PROT_WRITE) != 0 ||
      num_regions == kMost) {
    std::perror("the suite has no memory");
    std::abort();
  }
  regions[num_regions++] = {data_, nbytes_, name, ""};
  Observe();
}

void Pages::ForbidWrites() {
  regions[index_].what = "written";
  mprotect(data_, nbytes_, PROT_READ);
}

void Pages::Allow() { mprotect(data_, nbytes_, PROT_READ | PROT_WRITE); }

void Pages::Forbid(const char* when) {
  regions[index_].what = when;
  mprotect(data_, nbytes_, PROT_NONE);
}

}  // namespace dlpack_conformance
