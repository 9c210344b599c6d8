// The actors of request_value_test.cpp.

#include "flow/flow.h"
#include "flow/trace/request_value.h"

#include "flow/actorcompiler.h" // must be the last include

using namespace flow;

namespace {

ACTOR Future<std::string> idOf(RequestContext here) {
    wait(delay(0.1));
    return *here.find(kRequestId);
}

} // namespace

ACTOR Future<std::string> idByActors(RequestContext here) {
    wait(delay(0.1));
    std::string id = wait(idOf(here));
    return id;
}
