#include "net/examples/kv/store.h"

namespace kv {

bool Store::execute(Request const& request) {
    Session& session = sessions_[request.client];
    if (request.number <= session.number)
        return false;
    session.number = request.number;
    session.reply = perform(request);
    return true;
}

Reply Store::replyTo(Request const& request) const {
    auto session = sessions_.find(request.client);
    return session != sessions_.end() && session->second.number == request.number ? session->second.reply : Reply();
}

bool Store::isOld(Request const& request) const {
    auto session = sessions_.find(request.client);
    return session != sessions_.end() && request.number < session->second.number;
}

Optional<std::string> Store::get(std::string const& key) const {
    auto place = data_.find(key);
    return place == data_.end() ? Optional<std::string>() : Optional<std::string>(place->second);
}

Reply Store::perform(Request const& request) {
    Reply reply{.done = true, .succeeded = true, .value = get(request.key)};
    switch (request.verb) {
    case Verb::Get:
        break;
    case Verb::CompareAndSet:
        reply.succeeded = reply.value == request.expected;
        if (!reply.succeeded)
            break;
        [[fallthrough]];
    case Verb::Put:
        if (request.value.present())
            data_[request.key] = request.value.get();
        else
            data_.erase(request.key);
        break;
    case Verb::Remove:
        data_.erase(request.key);
        break;
    }
    return reply;
}

} // namespace kv
