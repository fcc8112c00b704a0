// Faults that tools/mutate plants: each has a number, and is active if the file DOVETAIL_MUTATE_STATE/active has it.
// Faults that a test reaches are appended to the file DOVETAIL_MUTATE_STATE/reached, with the test's name, while that
// file exists. Included in each source with faults, inside its own unnamed namespace.

inline int ReadNumber(const char* path) {
  char text[16] = {};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const bool read_any = read(file, text, sizeof text - 1) > 0;
  close(file);
  return read_any ? atoi(text) : -1;
}

inline void Record(int id) {
  static bool seen[1 << 16];
  if (seen[id]) return;
  seen[id] = true;
  const int file = open(DOVETAIL_MUTATE_STATE "/reached", O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const char* test = getenv("TEST_TARGET");
  char line[200];
  const int size = snprintf(line, sizeof line, "%d %s\n", id, test ? test : "");
  if (write(file, line, size) != size) abort();
  close(file);
}

inline bool Active(int id) {
  static const int active = ReadNumber(DOVETAIL_MUTATE_STATE "/active");
  if (active < 0) Record(id);
  return id == active;
}

constexpr bool On(int id) { return !std::is_constant_evaluated() && Active(id); }

constexpr bool True(int id, bool x) { return On(id) || x; }
constexpr bool False(int id, bool x) { return !On(id) && x; }

// Relations err by one.
constexpr bool Less(int id, auto a, auto b) { return On(id) ? a <= b : a < b; }
constexpr bool LessEqual(int id, auto a, auto b) { return On(id) ? a < b : a <= b; }
constexpr bool Greater(int id, auto a, auto b) { return On(id) ? a >= b : a > b; }
constexpr bool GreaterEqual(int id, auto a, auto b) { return On(id) ? a > b : a >= b; }

// Arithmetic uses another operator.
constexpr auto Add(int id, auto a, auto b) { return On(id) ? a - b : a + b; }
constexpr auto Subtract(int id, auto a, auto b) { return On(id) ? a + b : a - b; }
constexpr auto Multiply(int id, auto a, auto b) { return On(id) ? a + b : a * b; }
constexpr auto Divide(int id, auto a, auto b) { return On(id) ? a * b : a / b; }
constexpr auto Remainder(int id, auto a, auto b) { return On(id) ? a + b : a % b; }
