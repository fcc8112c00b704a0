// Messages of failures: Text(a, b, …) are the parts one after the other, as operator<< writes them.

#ifndef DLPACK_CONFORMANCE_TEXT_H_
#define DLPACK_CONFORMANCE_TEXT_H_

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace dlpack_conformance {

inline std::ostream& operator<<(std::ostream& os, const std::vector<int64_t>& numbers) {
  os << '[';
  for (size_t i = 0; i < numbers.size(); ++i) os << (i == 0 ? "" : ", ") << numbers[i];
  return os << ']';
}

template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream os;
  (os << ... << parts);
  return os.str();
}

// The first line of a message, at most 200 bytes of it.
inline std::string FirstLine(const std::string& message) {
  return message.substr(0, message.find('\n')).substr(0, 200);
}

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_TEXT_H_
