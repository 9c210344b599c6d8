#pragma once
// Store: the data of a replica, and the last reply to each client.
//
//     Store store;
//     store.execute(request);                    // a repeated request changes nothing
//     Reply reply = store.replyTo(request);

#include "net/examples/kv/message.h"

#include <map>

namespace kv {

class Store {
public:
    /// Executes the request, and returns true, if its number is new for the client.
    bool execute(Request const& request);
    /// Returns the reply to `request` if it is the client's last executed request. Else returns a Reply that is not
    /// `done`.
    Reply replyTo(Request const& request) const;
    /// True if a later request of the client was executed. Then `request` would change nothing.
    bool isOld(Request const& request) const;
    Optional<std::string> get(std::string const& key) const;

private:
    struct Session {
        std::uint64_t number = 0;
        Reply reply;
    };

    Reply perform(Request const& request);

    std::map<std::string, std::string> data_;
    std::map<std::uint64_t, Session> sessions_;
};

} // namespace kv
