#pragma once
// Paranoid pirate: a queue between clients and workers. A worker may end, hang or be cut off at any time: it gets
// questions only as long as its heartbeats come.
//
//     co_await pirateQueue("tcp://*:5555", "tcp://*:5556");
//     co_await pirateWorker("tcp://127.0.0.1:5556", work);       // any number of workers
//     Asker asker("tcp://127.0.0.1:5555");                       // clients are lazy pirates
//
// A worker without work sends READY each second. A worker that has been silent for kSilence seconds gets no questions.
// If a worker ends before it answers a question, the client asks again.

#include "flow/sync/trigger.h"
#include "net/examples/patterns/lazy_pirate.h"

constexpr double kBeat = 1;      // seconds between heartbeats
constexpr double kSilence = 3.5; // seconds of silence, after which the other side counts as gone

flow::Future<flow::Void> pirateQueue(std::string front, std::string back);
flow::Future<flow::Void> pirateWorker(std::string back, Answer work);

/// Workers that wait for work. The worker that has waited longest is first.
class IdleWorkers {
public:
    /// Adds a worker that waits for work. It may be in the list already.
    void add(std::string_view worker);
    void remove(std::string_view worker);
    /// Removes and returns the first worker that is not silent. Returns nothing if there is none.
    std::optional<std::string> take();
    void dropSilent();
    /// Waits until a worker has been added. Then take() may find a worker.
    flow::Trigger::Next onChange() { return changed_.next(); }

private:
    struct Idle {
        std::string worker;
        double heard;
    };
    std::vector<Idle> idle_;
    flow::Trigger changed_;
};
