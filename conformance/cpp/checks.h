// The checks: functions that are bound to a rule, and one for each case of it.

#ifndef DLPACK_CONFORMANCE_CHECKS_H_
#define DLPACK_CONFORMANCE_CHECKS_H_

#include <string>
#include <utility>
#include <vector>

#include "dlpack_conformance/child.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

struct NamedCheck {
  const char* rule;
  std::string name;  // the rule and the case: "consumer.strides/versioned/reversed"
  CheckFunction function;
};

class Checks {
 public:
  explicit Checks(const AnyLibrary& library) : library_(library) {}

  const AnyLibrary& library() const { return library_; }
  std::vector<Kind> exports() const { return Those(&AnyLibrary::exports); }
  std::vector<Kind> imports() const { return Those(&AnyLibrary::imports); }

  void Add(const char* rule, const std::string& name_of_case, CheckFunction function) {
    list_.push_back({rule, std::string(rule) + "/" + name_of_case, std::move(function)});
  }
  void Add(const char* rule, Kind kind, const std::string& name_of_case, CheckFunction function) {
    Add(rule, std::string(NameOf(kind)) + "/" + name_of_case, std::move(function));
  }
  void Add(const char* rule, Kind kind, CheckFunction function) {
    Add(rule, NameOf(kind), std::move(function));
  }

  std::vector<NamedCheck> list() && { return std::move(list_); }

 private:
  std::vector<Kind> Those(bool (AnyLibrary::*has)(Kind) const) const {
    std::vector<Kind> kinds;
    for (Kind kind : {Kind::kVersioned, Kind::kLegacy}) {
      if ((library_.*has)(kind)) kinds.push_back(kind);
    }
    return kinds;
  }

  const AnyLibrary& library_;
  std::vector<NamedCheck> list_;
};

// One function for each file of checks.
void AddProducerFields(Checks& checks);
void AddProducerLayouts(Checks& checks);
void AddProducerLifetimes(Checks& checks);
void AddConsumerAccepts(Checks& checks);
void AddConsumerLayouts(Checks& checks);
void AddConsumerLifetimes(Checks& checks);
void AddConsumerRefusals(Checks& checks);

// The checks for a library: those of producers if it exports, those of consumers if it imports.
std::vector<NamedCheck> AllChecks(const AnyLibrary& library);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_CHECKS_H_
