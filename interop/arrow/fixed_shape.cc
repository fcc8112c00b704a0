#include "dovetail/interop/arrow/fixed_shape.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/arrow/error.h"
#include "nlohmann/json.hpp"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNameKey = "ARROW:extension:name";
constexpr std::string_view kMetadataKey = "ARROW:extension:metadata";
constexpr std::string_view kName = "arrow.fixed_shape_tensor";

absl::Status Error(std::string_view metadata, std::string_view what) {
  constexpr size_t kShown = 200;
  return ArrowError(absl::StrCat("its type is ", kName, " with the metadata ",
                                 metadata.substr(0, kShown), ", and ", what));
}

// ArrowSchema::metadata: a count, then the length and the bytes of each key and of each value. Each
// number is an int32 in the byte order of this machine, at any address.
class MetadataReader {
 public:
  explicit MetadataReader(const char* at) : at_(at) {}

  int32_t Number() {
    int32_t number;
    std::memcpy(&number, at_, sizeof(number));
    at_ += sizeof(number);
    return number;
  }
  // nullopt for a negative length.
  std::optional<std::string_view> Text() {
    const int32_t length = Number();
    if (length < 0) return std::nullopt;
    return std::string_view(std::exchange(at_, at_ + length), static_cast<size_t>(length));
  }

 private:
  const char* at_;
};

struct Extension {
  std::string_view name;
  std::string_view metadata;
};

absl::StatusOr<Extension> ExtensionOf(const char* metadata) {
  Extension result;
  if (metadata == nullptr) return result;
  MetadataReader reader(metadata);
  for (int32_t pairs = reader.Number(); pairs > 0; --pairs) {
    const std::optional<std::string_view> key = reader.Text();
    const std::optional<std::string_view> value = key ? reader.Text() : std::nullopt;
    if (!value) return ArrowError("its metadata have a key or a value of negative length");
    if (*key == kNameKey) result.name = *value;
    if (*key == kMetadataKey) result.metadata = *value;
  }
  return result;
}

// Parses without exceptions: the value is discarded if `text` is no JSON. `*repeated` becomes a key
// that the outermost object has twice, of which the parser keeps one value.
Json Parse(std::string_view text, std::string* repeated) {
  std::set<std::string> keys;
  const auto note_key = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !keys.insert(parsed.get<std::string>()).second) {
      *repeated = parsed.get<std::string>();
    }
    return true;
  };
  return Json::parse(text, note_key, /*allow_exceptions=*/false);
}

// Appends the numbers of json[key], if there are any. False if one is no size of a dimension.
bool Read(const Json& json, const char* key, std::vector<int64_t>* numbers) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return true;
  if (!found->is_array() || found->size() > Layout::kMaxRank) return false;
  for (const Json& number : *found) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() > INT64_MAX) return false;
    numbers->push_back(static_cast<int64_t>(number.get<uint64_t>()));
  }
  return true;
}

bool IsPermutation(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool HasNames(const Json& json) {
  const auto found = json.find("dim_names");
  return found != json.end() && !found->empty();  // null is empty
}

// A key and a value, as MetadataReader reads them.
void Append(std::string_view text, std::string* metadata) {
  const auto length = static_cast<int32_t>(text.size());
  metadata->append(reinterpret_cast<const char*>(&length), sizeof(length));
  metadata->append(text);
}

}  // namespace

absl::StatusOr<std::optional<FixedShape>> FixedShapeOf(const ArrowSchema& schema) {
  const absl::StatusOr<Extension> extension = ExtensionOf(schema.metadata);
  if (!extension.ok()) return extension.status();
  if (extension->name != kName) return std::nullopt;
  const std::string_view text = extension->metadata;
  std::string repeated;
  const Json json = Parse(text, &repeated);
  if (!json.contains("shape")) return Error(text, "they give no shape");
  if (!repeated.empty()) return Error(text, absl::StrCat("they give \"", repeated, "\" twice"));
  FixedShape result;
  if (!Read(json, "shape", &result.shape)) return Error(text, "they give no valid shape");
  const size_t rank = result.shape.size();
  std::vector<int64_t>& order = result.permutation;
  if (!Read(json, "permutation", &order) ||
      (!order.empty() && (order.size() != rank || !IsPermutation(order)))) {
    return Error(text, absl::StrCat("the permutation is none of the numbers below ", rank));
  }
  if (HasNames(json)) {
    return Error(text,
                 "a tensor would lose the names of its dimensions; take them off first, as with "
                 "pyarrow's pa.ExtensionArray.from_storage(pa.fixed_shape_tensor("
                 "a.type.value_type, a.type.shape), a.storage)");
  }
  return result;
}

bool IsFixedShapeTensor(const ArrowSchema& schema) {
  const absl::StatusOr<Extension> extension = ExtensionOf(schema.metadata);
  return extension.ok() && extension->name == kName;
}

std::string FixedShapeMetadata(const FixedShape& shape) {
  std::string json = absl::StrCat(R"({"shape":[)", absl::StrJoin(shape.shape, ","), "]");
  if (!shape.permutation.empty()) {
    absl::StrAppend(&json, R"(,"permutation":[)", absl::StrJoin(shape.permutation, ","), "]");
  }
  json += '}';
  std::string metadata;
  constexpr int32_t kPairs = 2;
  metadata.append(reinterpret_cast<const char*>(&kPairs), sizeof(kPairs));
  Append(kNameKey, &metadata);
  Append(kName, &metadata);
  Append(kMetadataKey, &metadata);
  Append(json, &metadata);
  return metadata;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
