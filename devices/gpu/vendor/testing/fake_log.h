// For shared objects that stand in for a vendor's library: each function logs its call, and a test
// reads the log.
//
//   CUresult cuMemFree_v2(CUdeviceptr p) { return Fake<CUresult>("cuMemFree_v2", p); }  // the fake
//   FakeLibrary fake("libcuda.so.1"); EXPECT_EQ(fake.TakeLog(), "cuMemFree_v2(0x10)");  // the test
//
// The log has numbers in decimal, addresses and handles in hexadecimal, character pointers as text.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LOG_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LOG_H_

#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>

namespace dovetail_fake {

struct State {
  std::string log;
  std::string taken;
  std::map<std::string, int> failures;  // the next result of a function, by name
};
// Hidden: several stand-ins in one process have a log each.
__attribute__((visibility("hidden"))) inline State& GetState() {
  static State* const state = new State;
  return *state;
}

template <typename T>
void Note(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, const char*>) {
    out << value;
  } else if constexpr (std::is_pointer_v<T>) {
    out << "0x" << std::hex << reinterpret_cast<uintptr_t>(value) << std::dec;
  } else {
    out << +value;
  }
}

// Logs the call. Returns success, or once the result that Fail set.
template <typename Result, typename... Args>
Result Fake(const char* name, const Args&... args) {
  std::ostringstream out;
  out << name << "(";
  [[maybe_unused]] const char* between = "";
  ((out << between, Note(out, args), between = ", "), ...);
  out << ")";
  State& state = GetState();
  state.log += (state.log.empty() ? "" : "; ") + out.str();
  const auto failure = state.failures.find(name);
  if (failure == state.failures.end()) return Result{};
  const auto result = static_cast<Result>(failure->second);
  state.failures.erase(failure);
  return result;
}

// A number from the environment, or `otherwise`.
inline int Setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : otherwise;
}

}  // namespace dovetail_fake

// The functions that FakeLibrary calls. Each stand-in has this once.
#define DOVETAIL_FAKE_EXPORTS                                        \
  extern "C" const char* dovetail_fake_take_log() {                  \
    dovetail_fake::State& state = dovetail_fake::GetState();         \
    state.taken.swap(state.log);                                     \
    state.log.clear();                                               \
    return state.taken.c_str();                                      \
  }                                                                  \
  extern "C" void dovetail_fake_fail(const char* name, int result) { \
    dovetail_fake::GetState().failures[name] = result;               \
  }

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LOG_H_
