// The machine that a benchmark runs on: what one must know of it to judge a time, and which
// processor each thread runs on.
//
//   PinThread(0);                        // Initialize has done this for main()'s thread
//   PinThread(state.thread_index());     // in a benchmark with Threads(2): each has its own
//   UnpinThread();                       // before work whose threads come from a pool
//
// A thread that is started later inherits the processors of the thread that starts it.

#ifndef DOVETAIL_BENCHMARKS_HARNESS_MACHINE_H_
#define DOVETAIL_BENCHMARKS_HARNESS_MACHINE_H_

namespace dovetail_benchmarks {

// Adds the processor, the frequency governor, the compiler and the C library to what Google
// Benchmark prints before the first benchmark and writes to JSON. Warns on stderr if other programs
// use the machine.
void DescribeMachine();

// The number of processors that the process may use.
int UsableProcessors();

// Pins the calling thread to one of the processors that the process may use. Thread 0 gets the last
// one, because the first often serves interrupts. Does nothing where the system refuses.
void PinThread(int index);

// Lets the calling thread run on every processor that the process may use.
void UnpinThread();

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_MACHINE_H_
