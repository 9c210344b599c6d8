// The requests of bench/net/rpc.cpp with Cap'n Proto.

#include "bench/net/rpc.h"
#include "rpc.capnp.h"

#include <capnp/ez-rpc.h>
#include <future>
#include <thread>
#include <vector>

namespace {

using bench::RpcJob;
using bench::RpcMeter;

class Server final : public Echo::Server {
public:
    explicit Server(kj::Own<kj::PromiseFulfiller<void>> end) : end_(kj::mv(end)) {}
    kj::Promise<void> ask(AskContext context) override {
        context.setResults(context.getParams());
        return kj::READY_NOW;
    }
    kj::Promise<void> stop(StopContext) override {
        end_->fulfill();
        return kj::READY_NOW;
    }

private:
    kj::Own<kj::PromiseFulfiller<void>> end_;
};

void serve(std::promise<unsigned>& port) {
    auto end = kj::newPromiseAndFulfiller<void>();
    capnp::EzRpcServer server(kj::heap<Server>(kj::mv(end.fulfiller)), "127.0.0.1", 0);
    port.set_value(server.getPort().wait(server.getWaitScope()));
    end.promise.wait(server.getWaitScope());
}

class Client final : kj::TaskSet::ErrorHandler {
public:
    Client(RpcJob const& job, RpcMeter& meter) : job_(job), meter_(meter), tasks_(*this), bytes_(job.bytes, 'x') {}
    void run(unsigned port) {
        std::vector<kj::Own<capnp::EzRpcClient>> connections;
        std::vector<Echo::Client> echoes;
        for (int i = 0; i < job_.connections; ++i) {
            connections.push_back(kj::heap<capnp::EzRpcClient>("127.0.0.1", port));
            echoes.push_back(connections.back()->getMain<Echo>());
        }
        for (Echo::Client& each : echoes)
            for (int j = 0; j < job_.depth; ++j)
                ask(each, RpcMeter::now());
        auto& scope = connections[0]->getWaitScope();
        tasks_.onEmpty().wait(scope);
        kj::runCatchingExceptions([&] { echoes[0].stopRequest().send().wait(scope); });
    }

private:
    void ask(Echo::Client& echo, std::uint64_t since) {
        auto request = echo.askRequest();
        if (job_.isSmall()) {
            request.setA(1), request.setB(2), request.setC(3), request.setD(4);
            request.setE(5), request.setF(6), request.setG(7), request.setH(8);
        } else {
            request.setContent(capnp::Data::Reader(reinterpret_cast<kj::byte const*>(bytes_.data()), bytes_.size()));
        }
        tasks_.add(request.send().then([this, &echo, since](auto&& answer) {
            bool isRight = job_.isSmall() ? answer.getH() == 8 : answer.getContent().size() == bytes_.size();
            KJ_REQUIRE(isRight);
            std::uint64_t next = since;
            if (meter_.goesOn(next))
                ask(echo, next);
        }));
    }
    void taskFailed(kj::Exception&& exception) override { KJ_LOG(FATAL, exception); }

    RpcJob const& job_;
    RpcMeter& meter_;
    kj::TaskSet tasks_;
    std::string bytes_;
};

void run(RpcJob const& job, RpcMeter& meter) {
    std::promise<unsigned> port;
    std::thread server([&] { serve(port); });
    unsigned at = port.get_future().get();
    // Its loop belongs to its thread, and the benchmark's has loops of others.
    std::thread([&] {
        capnp::EzRpcClient keepsLoop("127.0.0.1", at);
        Client(job, meter).run(at);
    }).join();
    server.join();
}

bool const added = bench::addRpc("capnp", run);

} // namespace
