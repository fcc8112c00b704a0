#include "dovetail/devices/gpu/vendor/loaded_objects.h"

#include <dlfcn.h>

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

// LIBRARY is a file that only this test loads.
std::string Library() { return std::getenv("LIBRARY"); }

TEST(LoadedObjects, ACopyHasAnyVersionAHashAndAnyFolder) {
  const std::string name = "libamdhip64.so.6";
  for (const char* file :
       {"libamdhip64.so", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so.7.1.70001",
        "a/libamdhip64-1a2b3c4d.so.6.2", "libamdhip64-1A2B.so"}) {
    EXPECT_TRUE(IsCopyOf(file, name)) << file;
    EXPECT_TRUE(IsCopyOf(file, "/elsewhere/" + name)) << file;
  }
}

TEST(LoadedObjects, AnotherLibraryIsNoCopy) {
  for (const char* file : {"", "libcudart.so.12", "libcuda", "libcuda-debugger.so.1", "libcuda.so2",
                           "xlibcuda.so.1", "libcuda.so.1/other.so", "libcuda_1a2b.so"}) {
    EXPECT_FALSE(IsCopyOf(file, "libcuda.so.1")) << file;
  }
}

TEST(LoadedObjects, AnObjectIsCountedWhenItIsLoadedAndNotWhenItIsOpenedAgain) {
  ASSERT_THAT(FindCopies({Library()}), IsEmpty());
  const uint64_t before = CountLoads();
  EXPECT_GE(before, 1u);
  EXPECT_EQ(CountLoads(), before);
  void* library = dlopen(Library().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const uint64_t after = CountLoads();
  EXPECT_GT(after, before);
  EXPECT_THAT(FindCopies({"libno_such_library.so.9", Library()}), ElementsAre(FileOf(library)));
  EXPECT_THAT(FileOf(library), EndsWith(Library()));
  EXPECT_EQ(dlopen(Library().c_str(), RTLD_NOW | RTLD_LOCAL), library);
  EXPECT_EQ(CountLoads(), after);
}

}  // namespace
}  // namespace dovetail::gpu
