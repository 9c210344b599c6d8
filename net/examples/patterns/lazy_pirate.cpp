#include "net/examples/patterns/lazy_pirate.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

MessageOptions beating() {
    MessageOptions options;
    options.heartbeatIvl = 1;     // seconds between PINGs
    options.heartbeatTimeout = 3; // silence that ends a connection
    options.reconnectIvlMax = 1;
    return options;
}

Message& addParts(Message& message, Message const& other, std::size_t first) {
    std::size_t index = 0;
    for (std::string_view part : other)
        if (index++ >= first)
            message.add(part);
    return message;
}

Future<Message> Asker::ask(Message question) {
    for (int i = 0; i < patience_.tries; ++i) {
        if (!req_) {
            req_.emplace(SocketType::Req, options_);
            req_->connect(endpoint_);
        }
        co_await req_->send(Message(question));
        auto first = co_await race(errorOr(keep(req_->receive())), delay(patience_.seconds));
        if (first.index() == 0 && !std::get<0>(first).isError())
            co_return std::get<0>(first).get();
        req_.reset(); // too late, or the connection of the question has ended
    }
    throw timed_out();
}

Future<Void> answerAll(std::string endpoint, Answer answer) {
    MessageSocket rep(SocketType::Rep, beating());
    rep.bind(endpoint);
    for (;;) {
        Message question = co_await rep.receive();
        Message reply = co_await answer(std::move(question));
        co_await rep.send(reply);
    }
}
