#include "dovetail/core/ipc/write_faults.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

#include "dovetail/core/ipc/segments_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Ending {
  int signal;        // 0 if the process ended by itself
  std::string text;  // on stderr
};

// Runs body() in a child whose SIGSEGV is the system's at first.
Ending EndOf(const std::function<void()>& body) {
  int pipes[2];
  EXPECT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(pipes[1], STDERR_FILENO);
    signal(SIGSEGV, SIG_DFL);  // not a sanitizer's handler
    body();
    _exit(0);
  }
  close(pipes[1]);
  Ending ending = {};
  char buffer[512];
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;) {
    ending.text.append(buffer, static_cast<size_t>(n));
  }
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return ending;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

class WriteFaults : public testing::Test {
 protected:
  static constexpr size_t kNbytes = 3 * kGranuleBytes;

  // A slot opened so that it can't be written.
  static SlotHold ReadOnly(const SlotHold& slot) {
    SlotName name = slot.name();
    name.read_only = true;
    return *SlotHold::Open(name);
  }

  SlotHold slot_ = *TryMake(kNbytes);
  SlotHold there_ = ReadOnly(slot_);
  volatile char* data_ = BytesOf(there_);
};

TEST_F(WriteFaults, AWriteToReadOnlyMemoryNamesTheTensor) {
  const Ending ending = EndOf([this] {
    ReportWriteFaults();
    EXPECT_TRUE(WriteFaultsAreReported());
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, "float32 tensor of shape (2, 3)");
    data_[kNbytes - 1] = 1;
  });
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_THAT(ending.text, HasSubstr("shared read-only: float32 tensor of shape (2, 3)."));
  EXPECT_EQ(Count(ending.text, "dovetail:"), 1u);
}

TEST_F(WriteFaults, WithoutTheCallNothingIsPrinted) {
  EXPECT_FALSE(WriteFaultsAreReported());
  const Ending ending = EndOf([this] {
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, "a tensor");
    data_[0] = 1;
  });
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_THAT(ending.text, testing::Not(HasSubstr("dovetail")));
}

TEST_F(WriteFaults, OtherFaultsAreNotReportedAndEndTheProcess) {
  const Ending before = EndOf([this] {
    ReportWriteFaults();
    DescribeReadOnly(const_cast<char*>(data_) + kGranuleBytes, kGranuleBytes, "a tensor");
    data_[kGranuleBytes - 1] = 1;
  });
  EXPECT_EQ(before.signal, SIGSEGV);
  EXPECT_THAT(before.text, Not(HasSubstr("dovetail")));
  const Ending behind = EndOf([this] {
    ReportWriteFaults();
    DescribeReadOnly(const_cast<char*>(data_), kGranuleBytes, "a tensor");
    data_[kGranuleBytes] = 1;
  });
  EXPECT_EQ(behind.signal, SIGSEGV);
  EXPECT_THAT(behind.text, Not(HasSubstr("dovetail")));
  const Ending raised = EndOf([] {
    ReportWriteFaults();
    raise(SIGSEGV);
  });
  EXPECT_EQ(raised.signal, SIGSEGV);
}

// Its address may have other memory by then, or none.
TEST_F(WriteFaults, AnAccessToMemoryThatIsNoLongerMappedIsNoWrite) {
  const Ending ending = EndOf([] {
    ReportWriteFaults();
    void* memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    DescribeReadOnly(memory, 4096, "a tensor");
    munmap(memory, 4096);
    static_cast<volatile char*>(memory)[0];
  });
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_THAT(ending.text, Not(HasSubstr("dovetail")));
}

TEST_F(WriteFaults, TheHandlerThatWasThereGetsTheSignal) {
  const Ending ending = EndOf([this] {
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      const auto* at = static_cast<const char*>(info->si_addr);
      mprotect(const_cast<char*>(at), 1, PROT_READ | PROT_WRITE);  // so that the write succeeds
      (void)!write(STDERR_FILENO, "previous ", 9);
    };
    sigaction(SIGSEGV, &action, nullptr);
    ReportWriteFaults();
    ReportWriteFaults();  // does nothing
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, "a tensor");
    data_[0] = 1;
    data_[kGranuleBytes] = 1;
  });
  EXPECT_EQ(ending.signal, 0);
  EXPECT_EQ(Count(ending.text, "previous"), 2u);
  EXPECT_EQ(Count(ending.text, "dovetail:"), 2u);
}

struct sigaction of_chained;

// As Python's faulthandler does it: restores the handler that it replaced, and raises again.
TEST_F(WriteFaults, AHandlerThatCallsThisOneBackIsCalledOnce) {
  const Ending ending = EndOf([this] {
    ReportWriteFaults();
    struct sigaction action = {};
    action.sa_flags = SA_NODEFER;
    action.sa_handler = [](int) {
      (void)!write(STDERR_FILENO, "chained ", 8);
      sigaction(SIGSEGV, &of_chained, nullptr);
      raise(SIGSEGV);
    };
    sigaction(SIGSEGV, &action, &of_chained);
    ReportWriteFaults();  // again: the other handler has replaced it
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, "a tensor");
    data_[0] = 1;
  });
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_EQ(Count(ending.text, "chained"), 1u) << ending.text.substr(0, 1000);
  EXPECT_GE(Count(ending.text, "dovetail:"), 1u);
}

TEST_F(WriteFaults, AHandlerThatCallsThisOneDirectlyIsCalledOnce) {
  const Ending ending = EndOf([this] {
    ReportWriteFaults();
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      (void)!write(STDERR_FILENO, "chained ", 8);
      of_chained.sa_sigaction(signal, info, context);
    };
    sigaction(SIGSEGV, &action, &of_chained);
    ReportWriteFaults();
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, "a tensor");
    data_[0] = 1;
  });
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_EQ(Count(ending.text, "chained"), 1u) << ending.text.substr(0, 1000);
}

TEST_F(WriteFaults, TheLatestDescriptionOfAnAddressIsPrinted) {
  const Ending ending = EndOf([this] {
    ReportWriteFaults();
    for (int i = 0; i < 2000; ++i) {
      DescribeReadOnly(const_cast<char*>(data_), kNbytes, "number " + std::to_string(i));
    }
    data_[0] = 1;
  });
  EXPECT_THAT(ending.text, AllOf(HasSubstr("number 1999."), Not(HasSubstr("number 1998"))));
}

TEST_F(WriteFaults, LongDescriptionsAreCut) {
  const Ending ending = EndOf([this] {
    ReportWriteFaults();
    DescribeReadOnly(const_cast<char*>(data_), kNbytes, std::string(1000, 'x'));
    data_[0] = 1;
  });
  EXPECT_EQ(Count(ending.text, "x"), 119u);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
