#include "dovetail/interop/arrow/lists.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The private_data of a list's schema and array.
struct ListArray {
  const void* validity[1] = {nullptr};
  ArrowArray* children[1] = {&child};
  ArrowArray child;
};

struct ListSchema {
  std::string format;
  std::string metadata;
  ArrowSchema* children[1] = {&child};
  ArrowSchema child;
};

template <typename Node, typename Struct>
void Release(Struct* list) {
  auto* node = static_cast<Node*>(list->private_data);
  list->release = nullptr;
  if (node->child.release != nullptr) node->child.release(&node->child);
  delete node;
}

}  // namespace

void WrapInLists(int64_t count, ArrowArray* array) {
  auto* node = new ListArray{.child = *array};
  *array = {.length = count,
            .n_buffers = 1,
            .n_children = 1,
            .buffers = node->validity,
            .children = node->children,
            .release = &Release<ListArray, ArrowArray>,
            .private_data = node};
}

void WrapInLists(int64_t size, std::string metadata, ArrowSchema* schema) {
  auto* node = new ListSchema{
      .format = absl::StrCat("+w:", size), .metadata = std::move(metadata), .child = *schema};
  // As Arrow's own libraries name and declare the elements of lists, so that types compare equal.
  node->child.name = "item";
  node->child.flags = ARROW_FLAG_NULLABLE;
  *schema = {.format = node->format.c_str(),
             .name = "",
             .metadata = node->metadata.empty() ? nullptr : node->metadata.data(),
             .n_children = 1,
             .children = node->children,
             .release = &Release<ListSchema, ArrowSchema>,
             .private_data = node};
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
