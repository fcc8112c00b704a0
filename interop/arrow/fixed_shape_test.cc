// Fixed shape tensors, both ways (rule 64).

#include "dovetail/interop/arrow/fixed_shape.h"

#include <cstring>
#include <string>
#include <vector>

#include "dovetail/interop/arrow/nested_fixture.h"
#include "gmock/gmock.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StrEq;

constexpr ToArrowOptions kTensors = {.nesting = ArrowNesting::kFixedShapeTensor};

class FixedShapes : public Nested {
 protected:
  // Why the type with these parameters is refused for lists of six elements.
  std::string RefusalOfType(const std::string& json) {
    Export(Iota({2, 6}));
    const std::string metadata = Metadata(json);
    schema.metadata = metadata.data();
    return Refusal();
  }
  // The metadata of a type with these parameters.
  static std::string Metadata(const std::string& json) {
    const std::string good = FixedShapeMetadata({.shape = {6}});
    const std::string parameters = R"({"shape":[6]})";
    std::string metadata = good.substr(0, good.size() - parameters.size() - sizeof(int32_t));
    Append(json, &metadata);
    return metadata;
  }
  static void Append(const std::string& text, std::string* metadata) {
    const auto length = static_cast<int32_t>(text.size());
    metadata->append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  }
  // The shape of lists of six elements whose type has these metadata.
  std::vector<int64_t> ShapeOf(const std::string& metadata) {
    Export(Iota({2, 6}));
    schema.metadata = metadata.data();
    const absl::StatusOr<Tensor> tensor = Import();
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    if (!tensor.ok()) return {};
    return {tensor->shape().begin(), tensor->shape().end()};
  }
};

// Rule 64.
TEST_F(FixedShapes, AFixedShapeTensorHasItsDimensionsInTheType) {
  const Tensor x = Iota({2, 3, 4});
  Export(x, kTensors);
  EXPECT_THAT(schema.format, StrEq("+w:12"));
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {3, 4}}));
  EXPECT_EQ(Child(array).buffers[1], x.raw_data());
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 3, 4));
  EXPECT_EQ(back->raw_data(), x.raw_data());
}

// Rule 64. The specification's example has the shape (100, 200, 500) and the permutation (2, 0, 1)
// for tensors of shape (500, 100, 200).
TEST_F(FixedShapes, APermutationOrdersTheDimensionsAsTheSpecificationSays) {
  const Tensor x = Iota({2, 1, 2, 5});
  Export(x, kTensors);
  const std::string metadata = FixedShapeMetadata({.shape = {1, 2, 5}, .permutation = {2, 0, 1}});
  schema.metadata = metadata.data();
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(2, 5, 1, 2));
  EXPECT_THAT(back->layout().strides(), ElementsAre(10, 1, 10, 5));
}

// Rule 64.
TEST_F(FixedShapes, EveryOrderOfDimensionsGoesThereAndBack) {
  const std::vector<std::vector<int64_t>> orders = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3},
                                                    {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}};
  for (const std::vector<int64_t>& order : orders) {
    const Tensor x = *Iota({2, 3, 4, 5}).Permute(order);
    Export(x, kTensors);
    absl::StatusOr<Tensor> back = Import();
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->layout(), x.layout());
    EXPECT_EQ(back->raw_data(), x.raw_data());
  }
}

TEST_F(FixedShapes, DimensionsOfOneNeedNoOrder) {
  const Tensor x = *Iota({2, 4, 1}).Permute({0, 2, 1});
  Export(x, kTensors);
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {1, 4}}));
  EXPECT_TRUE(Import().ok());
  const Tensor y =
      *Tensor::Make(x.storage(), 0, kFloat32, *Layout::Strided({2, 1, 4}, {4, 0, 1}), {});
  Export(y, kTensors);
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {1, 4}})) << "its stride means nothing";
  EXPECT_TRUE(Import().ok());
}

TEST_F(FixedShapes, DimensionsOfOneKeepTheirPlaceAmongEqualStrides) {
  const Tensor x = *Tensor::Make(Iota({24}).storage(), 0, kFloat32,
                                 *Layout::Strided({2, 4, 1, 3}, {12, 1, 1, 4}), {});
  Export(x, kTensors);
  EXPECT_EQ(*FixedShapeOf(schema), (FixedShape{.shape = {3, 4, 1}, .permutation = {1, 2, 0}}));
  EXPECT_EQ(Import()->shape(), x.shape());
}

TEST_F(FixedShapes, ARowOfNumbersIsTensorsWithoutDimensions) {
  Export(Iota({3}), kTensors);
  EXPECT_THAT(schema.format, StrEq("+w:1"));
  absl::StatusOr<Tensor> back = Import();
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_THAT(back->shape(), ElementsAre(3));
}

TEST_F(FixedShapes, ParametersThatMakeNoShapeAreRefused) {
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,4]})"), HasSubstr("no lists of as many elements"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,-3]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[6.0]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":6})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[18446744073709551615]})"), HasSubstr("no valid shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[4294967296,4294967296,6]})"), HasSubstr("no lists of as"));
  EXPECT_THAT(RefusalOfType(R"({"shape":)" + std::string(100000, '[')), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(R"({})"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(""), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType("[]"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType("\xff"), HasSubstr("no shape"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[0]})"), HasSubstr("below 2"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[0,0]})"), HasSubstr("below 2"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[1,2]})"), HasSubstr("below 2"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":"none"})"), HasSubstr("below 2"));
  // JSON does not say which of two values counts, and other libraries may take the other one.
  EXPECT_THAT(RefusalOfType(R"({"shape":[3,2],"shape":[2,3]})"), HasSubstr("\"shape\" twice"));
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"permutation":[0,1],"permutation":[1,0]})"),
              HasSubstr("\"permutation\" twice"));
  EXPECT_THAT(RefusalOfType(R"({"dim_names":["H","W"],"shape":[2,3],"dim_names":null})"),
              HasSubstr("\"dim_names\" twice"));
  // The product is 6, modulo 2^64.
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,5,7378697629483820647]})"), HasSubstr("no lists of as"));
}

TEST_F(FixedShapes, ATypeHasAsManyDimensionsAsATensorHasBesideTheFirst) {
  const auto ones = [](int count) {
    std::string json = R"({"shape":[6)";
    for (int i = 1; i < count; ++i) json += ",1";
    return json + "]}";
  };
  EXPECT_EQ(ShapeOf(Metadata(ones(63))).size(), 64u);
  EXPECT_THAT(RefusalOfType(ones(64)), HasSubstr("at most 64 dimensions"));
  EXPECT_THAT(RefusalOfType(ones(65)), HasSubstr("no valid shape"));
}

TEST_F(FixedShapes, ANumberTypeIsNoTensor) {
  for (const char* json : {R"({"shape":[1]})", R"({"shape":[4294967296,4294967296]})"}) {
    Export(Iota({6}));
    const std::string metadata = Metadata(json);
    schema.metadata = metadata.data();
    EXPECT_THAT(Refusal(), HasSubstr("no lists of as many elements"));
  }
}

TEST_F(FixedShapes, ParametersThatAreNullOrEmptyAreNone) {
  for (const char* json : {R"({"shape":[2,3],"permutation":null,"dim_names":null})",
                           R"({"shape":[2,3],"permutation":[],"dim_names":[]})"}) {
    EXPECT_THAT(ShapeOf(Metadata(json)), ElementsAre(2, 2, 3));
  }
}

TEST_F(FixedShapes, MetadataBesideThoseOfTheTypeAreNoError) {
  std::string metadata = FixedShapeMetadata({.shape = {3, 2}});
  const int32_t pairs = 3;
  std::memcpy(metadata.data(), &pairs, sizeof(pairs));
  Append("unit", &metadata);
  Append("m", &metadata);
  EXPECT_THAT(ShapeOf(metadata), ElementsAre(2, 3, 2));
}

TEST_F(FixedShapes, OnlyATypeOfTensorsIsOne) {
  Export(Iota({2, 6}), kTensors);
  EXPECT_TRUE(IsFixedShapeTensor(schema));
  EXPECT_TRUE(Import().ok());
  Export(Iota({2, 6}));
  EXPECT_FALSE(IsFixedShapeTensor(schema));
  const std::string broken("\1\0\0\0\377\377\377\377", 8);
  schema.metadata = broken.data();
  EXPECT_FALSE(IsFixedShapeTensor(schema));
  EXPECT_FALSE(Import().ok());
}

TEST_F(FixedShapes, NamesOfDimensionsAreRefusedBecauseATensorWouldLoseThem) {
  EXPECT_THAT(RefusalOfType(R"({"shape":[2,3],"dim_names":["H","W"]})"),
              HasSubstr("take them off first"));
}

TEST_F(FixedShapes, ParametersBesideTheKnownOnesAreNoError) {
  const std::string metadata = FixedShapeMetadata({.shape = {2, 3}});
  Export(Iota({1, 6}));
  schema.metadata = metadata.data();
  EXPECT_THAT(Import()->shape(), ElementsAre(1, 2, 3));
  const auto refusal = RefusalOfType(R"({"shape":[2,4],"later":{"a":[1]}})");
  EXPECT_THAT(refusal, HasSubstr("no lists of as many elements")) << "read up to the shape";
}

TEST_F(FixedShapes, MetadataOfNegativeLengthAreRefused) {
  std::string metadata = FixedShapeMetadata({.shape = {6}});
  const int32_t negative = -1;
  std::memcpy(metadata.data() + sizeof(int32_t), &negative, sizeof(negative));
  Export(Iota({1, 6}));
  schema.metadata = metadata.data();
  EXPECT_THAT(Refusal(), HasSubstr("negative length"));
}

TEST_F(FixedShapes, PermutedDimensionsThatCannotBeCountedAreRefusedWithoutElementsToo) {
  Export(Zeros({0, 2, 6}, kInt16));
  const std::string metadata = Metadata(R"({"shape":[1048576,1048576],"permutation":[1,0]})");
  schema.format = Child(schema).format = "+w:1099511627776";  // 2^40
  Child(schema).metadata = metadata.data();
  EXPECT_THAT(Refusal(), HasSubstr("can't be counted"));
}

}  // namespace
}  // namespace dovetail
