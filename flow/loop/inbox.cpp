#include "flow/loop/detail/inbox.h"

namespace flow::detail {

Link* Inbox::oldestFirst(Link* newest) {
    Link* oldest = nullptr;
    while (newest) {
        Link* next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

} // namespace flow::detail
