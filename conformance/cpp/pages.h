// Memory whose accesses are observed, not asked for: a forbidden one breaks the rule that is being
// checked, and says where it was.
//
//   Pages pages(48, "the tensor's memory");
//   pages.ForbidWrites();    // a write is reported from now on
//   pages.Forbid();          // a read is, too
//
// For processes of checks alone (child.h). The pages are never unmapped.

#ifndef DLPACK_CONFORMANCE_PAGES_H_
#define DLPACK_CONFORMANCE_PAGES_H_

#include <cstddef>

namespace dlpack_conformance {

class Pages {
 public:
  // Zeros, at an address that is a multiple of a page's size, with an inaccessible page on both
  // sides.
  Pages(size_t nbytes, const char* name);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  unsigned char* data() const { return data_; }
  void ForbidWrites();
  void Forbid(const char* when);
  void Allow();

 private:
  unsigned char* data_;
  size_t nbytes_;  // of the pages
  size_t index_;   // among all pages of the process
};

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_PAGES_H_
