// Pools whose memory has no file in /dev/shm.

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/core/testing/child_process.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr size_t kKiB = 1 << 10;

std::shared_ptr<SlotPool> MakePool() {
  return *SlotPool::Create({.nbytes = 64 * kKiB, .anonymous = true});
}

// Passes a descriptor over a socket.
void SendFile(int socket, int file) {
  char byte = 'f', control[CMSG_SPACE(sizeof file)] = {};
  iovec data = {&byte, 1};
  msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  EXPECT_EQ(sendmsg(socket, &message, 0), 1);
}
int ReceiveFile(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))] = {};
  iovec data = {&byte, 1};
  msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  int file = -1;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

TEST(AnonymousPool, ItIsAttachedByItsDescriptor) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  ChildProcess child([&](Channel& parent) {
    const int file = ReceiveFile(sockets[1]);
    const std::shared_ptr<SlotPool> pool = *SlotPool::Attach(file);
    parent.Send(pool->is_anonymous());
    parent.Send(*SlotPool::Attach(file) != pool);
    const SlotHold there = *SlotHold::Open(parent.Receive<SlotName>());
    parent.Send(IsFilledWith(there, 8 * kKiB, 1));
    const SlotHold own = *pool->Allocate(8 * kKiB);
    FillWith(own, 8 * kKiB, 2);
    parent.Send(own.name());
    parent.Receive<char>();  // the received descriptor stays open
  });
  const auto pool = MakePool();
  EXPECT_TRUE(pool->is_anonymous());
  EXPECT_EQ(access(FileOf(pool->name()).c_str(), F_OK), -1);
  SendFile(sockets[0], pool->file());
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_TRUE(child.Receive<bool>());
  const SlotHold slot = *pool->Allocate(8 * kKiB);
  FillWith(slot, 8 * kKiB, 1);
  child.Send(slot.name());
  EXPECT_TRUE(child.Receive<bool>());
  const SlotHold of_child = *SlotHold::Open(child.Receive<SlotName>());
  EXPECT_TRUE(IsFilledWith(of_child, 8 * kKiB, 2));
  EXPECT_EQ(ftruncate(pool->file(), 0), -1) << "its size is sealed";
  std::vector<SlotHold> all;
  while (true) {
    absl::StatusOr<SlotHold> more = pool->Allocate(4 * kKiB);
    if (!more.ok()) break;
    all.push_back(*std::move(more));
  }
  EXPECT_EQ(all.size(), 12u);
  EXPECT_EQ(pool->segment_count(), 1);
  child.Send('x');
  EXPECT_EQ(child.Join(), 0);
  EXPECT_FALSE(of_child.IsHeldByOthers(/*thorough=*/true));
  close(sockets[0]), close(sockets[1]);
}

TEST(AnonymousPool, AKilledMakerHoldsNothingThoughOthersHaveItsDescriptor) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  ChildProcess maker([&](Channel& parent) {
    const auto pool = MakePool();
    const SlotHold slot = *pool->Allocate(64 * kKiB);
    SendFile(sockets[1], pool->file());
    parent.Receive<char>();
  });
  const int file = ReceiveFile(sockets[0]);
  const std::shared_ptr<SlotPool> pool = *SlotPool::Attach(file);
  EXPECT_FALSE(pool->Allocate(1).ok());
  maker.Kill();
  EXPECT_TRUE(pool->Allocate(64 * kKiB).ok());
  close(file), close(sockets[0]), close(sockets[1]);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
