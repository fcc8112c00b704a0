// ChildProcess: a child process for tests. The two exchange messages, and the test can kill the
// child at any time.
//
//   ChildProcess child([](Channel& parent) {
//     int n = parent.Receive<int>();
//     parent.Send(n + 1);
//   });
//   child.Send(1);
//   EXPECT_EQ(child.Receive<int>(), 2);
//
// The child is forked. Make it before the test starts threads or opens anything that must not be
// forked. It ends when its function returns, with _exit(), or when the ChildProcess is destroyed.
// If one side has ended, the test fails on the parent's side and the child exits on its own.

#ifndef DOVETAIL_CORE_TESTING_CHILD_PROCESS_H_
#define DOVETAIL_CORE_TESTING_CHILD_PROCESS_H_

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "dovetail/core/config.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// One side of a pair of pipes.
class Channel {
 public:
  Channel(int in, int out, bool is_child) : in_(in), out_(out), is_child_(is_child) {}
  ~Channel() {
    close(in_);
    close(out_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  template <typename T>
  void Send(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Write(&value, sizeof value);
  }
  void Send(const std::string& text) {
    Send(text.size());
    Write(text.data(), text.size());
  }
  template <typename T>
  T Receive() {
    T value{};
    if constexpr (std::is_same_v<T, std::string>) {
      value.resize(Receive<size_t>());
      Read(value.data(), value.size());
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      Read(&value, sizeof value);
    }
    return value;
  }

 private:
  void Read(void* data, size_t nbytes) {
    auto* to = static_cast<char*>(data);
    while (nbytes > 0) {
      const ssize_t n = read(in_, to, nbytes);
      if (n <= 0) return Fail();
      to += n;
      nbytes -= static_cast<size_t>(n);
    }
  }
  void Write(const void* data, size_t nbytes) {
    if (nbytes != 0 && write(out_, data, nbytes) != static_cast<ssize_t>(nbytes)) Fail();
  }
  void Fail() const {
    if (is_child_) _exit(1);
    ADD_FAILURE() << "the child has ended";
  }

  const int in_, out_;
  const bool is_child_;
};

class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void(Channel& parent)>& work) {
    int to[2], from[2];
    EXPECT_EQ(pipe(to), 0);
    EXPECT_EQ(pipe(from), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(to[1]);
      close(from[0]);
      {
        Channel parent(to[0], from[1], true);
        work(parent);
      }
      _exit(0);
    }
    close(to[0]);
    close(from[1]);
    channel_.emplace(from[0], to[1], false);
  }
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }
  // Waits until the child has ended, and returns the status of waitpid.
  int Join() {
    int status = -1;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }
  template <typename T>
  void Send(const T& value) {
    channel_->Send(value);
  }
  template <typename T>
  T Receive() {
    return channel_->Receive<T>();
  }

 private:
  pid_t pid_;
  std::optional<Channel> channel_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_CHILD_PROCESS_H_
