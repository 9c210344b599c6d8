#include "net/poll/network_poller.h"

#include "flow/base/assert.h"
#include "net/poll/detail/epoll_poller.h"
#include "net/poll/detail/uring_poller.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace flow::net {

#if !defined(MILLRACE_URING)
bool hasUring() {
    return false;
}
#endif

void NetworkPoller::removeAll() noexcept {
    watched_.forEach([this](PolledDescriptor& each) {
        remove(each);
        each.onPollerEnd();
    });
}

std::unique_ptr<NetworkPoller> makePoller() {
    char const* wanted = std::getenv("FLOW_POLLER");
    std::string_view name = wanted ? wanted : "";
#if defined(MILLRACE_URING)
    if (name == "uring") {
        auto poller = std::make_unique<UringPoller>();
        int error = uringError();
        if (error == 0)
            error = poller->tryToOpen();
        FLOW_ASSERT(error == 0, ("FLOW_POLLER is uring, but " + whyNoUring(error)).c_str());
        return poller;
    }
#endif
    FLOW_ASSERT(name != "uring", "FLOW_POLLER is uring, but the library was built without liburing");
    FLOW_ASSERT(name.empty() || name == "epoll",
                ("FLOW_POLLER is \"" + std::string(name) + "\"; it must be epoll or uring").c_str());
    return std::make_unique<EpollPoller>();
}

} // namespace flow::net
