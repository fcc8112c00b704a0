#include "dlpack_conformance/checks.h"

namespace dlpack_conformance {

std::vector<NamedCheck> AllChecks(const AnyLibrary& library) {
  Checks checks(library);
  AddProducerFields(checks);
  AddProducerLayouts(checks);
  AddProducerLifetimes(checks);
  AddConsumerAccepts(checks);
  AddConsumerLayouts(checks);
  AddConsumerLifetimes(checks);
  AddConsumerRefusals(checks);
  return std::move(checks).list();
}

}  // namespace dlpack_conformance
