// Participation: this process's number among the users of a segment's file, and who else lives.
//
// Participant i holds a lock on two bytes of the file, which the kernel releases when the process
// ends, however it ends. (They lie beyond the end of the file; locks need no content.) The process
// that made the file has the number kMaker besides its own as a participant. The locks belong to an
// open file: the participants of one file are as many opens of it, so that a process must open a
// file for itself (OpenAgain), also one whose descriptor it received or inherited.
//
// Another process that cleans up after a dead one holds its second byte meanwhile, so that nobody
// takes the number and nobody takes it for alive. The structure lock is a byte of its own
// (structure_lock.h).
//
// All functions are about open file descriptors, and are called with StructureMutex held, except
// in a child after fork().

#ifndef DOVETAIL_CORE_IPC_PARTICIPANTS_H_
#define DOVETAIL_CORE_IPC_PARTICIPANTS_H_

#include "dovetail/core/config.h"
#include "dovetail/core/ipc/slot_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

DOVETAIL_NOT_SHARED inline constexpr int kMaker = kMostParticipants;

// The file of another descriptor, opened once more; -1 and errno if that fails.
int OpenAgain(int file);

// Takes the number `participant` for this open file. False if a living process has it.
bool TakeNumber(int file, int participant);
void ReturnNumber(int file, int participant);
// Whether a living process has the number by another open file. True if that is unknown.
bool IsTaken(int file, int participant);

// If nobody has the number: keeps others from taking it and from cleaning up after it, until
// EndCleaning. False if it is taken, or others clean up. BeginCleaning waits a little for those.
bool TryCleaning(int file, int participant);
bool BeginCleaning(int file, int participant);
void EndCleaning(int file, int participant);

// The lock of structure_lock.h. False, and errno, if another process has it.
bool TryLockStructure(int file);
void UnlockStructure(int file);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_PARTICIPANTS_H_
