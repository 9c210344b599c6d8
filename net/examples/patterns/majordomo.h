#pragma once
// Majordomo: a broker for services by name. Clients and workers connect to the same endpoint.
//
//     co_await majordomo("tcp://*:5555");
//     co_await majordomoWorker("tcp://127.0.0.1:5555", "echo", work);
//     Asker asker("tcp://127.0.0.1:5555");
//     Message answer = co_await asker.ask(Message("echo").add("hello"));       // "OK", "hello"
//
// The messages: a client, which is a REQ socket, sends the name of a service and the parts of its question. It gets
// "OK" and the answer, or "ERROR" and the reason. The first part of the other messages is their kind:
//
//     worker, a DEALER:  READY and its service; ANSWER, the ticket and the answer; BEAT each second, even during work
//     broker, a ROUTER:  WORK, a ticket and the question; BEAT each second; UNKNOWN, if the worker is not in its list
//
// After UNKNOWN a worker sends READY again. The broker's list is empty after a restart.
//
// Each question that a worker gets has its own ticket. Without tickets, a late answer to a refused question could be
// mistaken for the answer to the client's next question.
//
// A worker that is silent for kSilence seconds is removed: the broker answers its question with "ERROR", and ignores
// its later answers. A question that waits for a worker longer than kWait is answered with "ERROR", too.

#include "net/examples/patterns/paranoid_pirate.h"

#include <deque>
#include <map>

constexpr double kWait = 2; // seconds that a question waits for a worker

flow::Future<flow::Void> majordomo(std::string endpoint);
flow::Future<flow::Void> majordomoWorker(std::string endpoint, std::string service, Answer work);

class Broker {
public:
    explicit Broker(std::string const& endpoint);
    flow::Future<flow::Void> run();

private:
    struct Question {
        std::string client;
        flow::net::Message parts;
        double came;
    };
    struct Service {
        std::deque<Question> questions; // the questions that wait for a worker
        std::deque<std::string> idle;   // the worker that has waited longest is first
    };
    struct Worker {
        std::string service;
        double heard;
        std::string client; // the client of the worker's question; empty: the worker is idle
        std::string ticket; // the ticket of the worker's question
    };

    void clientCame(flow::net::Message const& message);
    void workerCame(flow::net::Message const& message);
    void giveWork(Service& service);
    void isIdle(std::string const& name, Worker& worker);
    void forget(std::map<std::string, Worker>::iterator worker);
    void answer(std::string const& client, std::string_view status, flow::net::Message const& parts, std::size_t first);
    void refuse(std::string const& client, std::string_view why);
    void send(flow::net::Message message);
    flow::Future<flow::Void> beat();

    flow::net::MessageSocket router_;
    std::map<std::string, Service, std::less<>> services_;
    std::map<std::string, Worker> workers_; // by routing id
};
