#pragma once
// Lazy pirate: a client that gets an answer, or an error, in a limited time, whatever happens to its server.
//
//     Asker asker("tcp://127.0.0.1:5555");
//     Message answer = co_await asker.ask(Message("why?"));      // fails with timed_out after the last try
//
// A REQ socket that gets no answer is destroyed, and a new socket asks again. The new socket has another routing id, so
// a late answer is dropped. A server may get a question several times: number the questions if it must not do the work
// twice.

#include "net/message/message_socket.h"

#include <optional>

struct Patience {
    double seconds = 2.5;
    int tries = 3;
};

/// The options of all sockets of these programs: a connection ends when its peer has been silent for three seconds.
flow::net::MessageOptions beating();

class Asker {
public:
    explicit Asker(std::string endpoint, Patience patience = {}, flow::net::MessageOptions options = beating())
        : endpoint_(std::move(endpoint)), patience_(patience), options_(std::move(options)) {}
    /// Asks one question at a time: the last call must have ended.
    flow::Future<flow::net::Message> ask(flow::net::Message question);

private:
    std::string endpoint_;
    Patience patience_;
    flow::net::MessageOptions options_;
    std::optional<flow::net::MessageSocket> req_;
};

/// The function of a server or a worker that answers a question.
using Answer = std::function<flow::Future<flow::net::Message>(flow::net::Message)>;

/// The server: answers one question after the other.
flow::Future<flow::Void> answerAll(std::string endpoint, Answer answer);

/// Adds the parts of `other` from the index `first` on, if there are any.
flow::net::Message& addParts(flow::net::Message& message, flow::net::Message const& other, std::size_t first);
