// The enumerations of the dlpack.h at hand, as its text has them, against our tables.

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/newer_codes.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Codes = std::map<int, std::string>;

// The enumerators of one enumeration of the header, by number.
Codes CodesOf(const std::string& enumeration) {
  std::ifstream file(std::getenv("DLPACK_HEADER"));
  std::stringstream header;
  header << file.rdbuf();
  const std::string text = header.str();
  const size_t end = text.find("} " + enumeration + ";");
  if (end == std::string::npos) return {};
  const size_t begin = text.rfind('{', end);
  const std::regex enumerator(R"((kDL\w+)\s*=\s*(\d+))");
  Codes codes;
  for (std::sregex_iterator i(text.begin() + begin, text.begin() + end, enumerator), last;
       i != last; ++i) {
    codes[std::stoi((*i)[2])] = (*i)[1];
  }
  return codes;
}

// What our table has and the header, without the newer codes, has not; and the other way round.
template <typename Pairs, typename Newer>
void ExpectSameCodes(const Codes& header, const Pairs& pairs, const Newer& newer) {
  ASSERT_GT(header.size(), 15u) << "the enumeration was not found in dlpack.h";
  Codes ours;
  for (const auto& pair : pairs) ours[static_cast<int>(pair.dlpack)];
  for (const auto& [code, name] : header) {
    EXPECT_TRUE(ours.contains(code))
        << "dlpack.h has " << name << " = " << code << ", and core/internal has no line for it";
  }
  for (const auto code : newer) {
    EXPECT_FALSE(header.contains(static_cast<int>(code)))
        << "dlpack.h has " << code << " now: take it off newer_codes.h";
    EXPECT_EQ(ours.erase(static_cast<int>(code)), 1u) << code;
  }
  for (const auto& [code, unused] : ours) {
    EXPECT_TRUE(header.contains(code)) << code << " is in neither dlpack.h nor newer_codes.h";
  }
}

TEST(DlpackHeader, EveryTypeCodeIsInTheTable) {
  ExpectSameCodes(CodesOf("DLDataTypeCode"), kTypeCodes, kNewerTypeCodes);
}

TEST(DlpackHeader, EveryDeviceTypeIsInTheTable) {
  ExpectSameCodes(CodesOf("DLDeviceType"), kDeviceCodes, kNewerDeviceTypes);
}

TEST(DlpackHeader, TheNewerCodesHaveTheNumbersThatUpstreamGaveThem) {
  EXPECT_EQ(ToDLDataType(kBComplex32).code, 18);
  EXPECT_EQ(ToDLDevice({DeviceType::kTpu, 3}).device_type, 19);
  EXPECT_EQ(ToDLDevice({DeviceType::kTpuHost, 0}).device_type, 20);
  EXPECT_EQ(ToDLDevice({DeviceType::kAscend, 1}).device_type, 21);
}

}  // namespace
}  // namespace dovetail
