// The main() of a fuzz target without libFuzzer: runs every file of the folders that are named,
// in the order of their names, then pseudo-random inputs and changed copies of the files. Prints
// the name of a file before it runs, so that the last one is the one that failed.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr int kRandomInputs = 4000;
constexpr size_t kMostBytes = 400;

using Bytes = std::vector<uint8_t>;

// From a heap block of the input's size, so that a sanitizer sees reads beyond it.
void Run(const Bytes& bytes) {
  const Bytes exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Bytes RandomInput(const std::vector<Bytes>& corpus, std::mt19937& random) {
  if (corpus.empty() || random() % 2 == 0) {
    Bytes bytes(random() % kMostBytes);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }
  Bytes bytes = corpus[random() % corpus.size()];
  for (int change = 0; change < 3 && !bytes.empty(); ++change) {
    bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
  }
  return bytes;
}

std::vector<std::filesystem::path> FilesOf(const char* folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;  // libFuzzer's
    for (const std::filesystem::path& file : FilesOf(argv[i])) {
      std::fprintf(stderr, "%s\n", file.filename().c_str());
      std::ifstream stream(file, std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      Run(corpus.back());
    }
  }
  std::fprintf(stderr, "%d random inputs\n", kRandomInputs);
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same inputs each time
  for (int i = 0; i < kRandomInputs; ++i) Run(RandomInput(corpus, random));
  std::printf("%zu files and %d random inputs\n", corpus.size(), kRandomInputs);
  return corpus.empty() ? 1 : 0;
}
