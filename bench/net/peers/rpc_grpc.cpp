// The requests of bench/net/rpc.cpp with gRPC: its asynchronous interface, a thread and a completion queue on each
// side.

#include "bench/net/rpc.h"
#include "rpc.grpc.pb.h"

#include <chrono>
#include <grpcpp/grpcpp.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

using bench::RpcJob;
using bench::RpcMeter;
using rpc_peer::Echo;
using rpc_peer::Item;

class Server {
public:
    Server() {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(&service_);
        queue_ = builder.AddCompletionQueue();
        server_ = builder.BuildAndStart();
        thread_ = std::thread([this] { run(); });
    }
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;
    ~Server() {
        server_->Shutdown(std::chrono::system_clock::now());
        queue_->Shutdown();
        thread_.join();
    }
    int port() const { return port_; }

private:
    struct Call {
        grpc::ServerContext context;
        Item item;
        grpc::ServerAsyncResponseWriter<Item> writer{&context};
        bool isAnswered = false;
    };
    void await() {
        auto* call = new Call;
        service_.RequestAsk(&call->context, &call->item, &call->writer, queue_.get(), queue_.get(), call);
    }
    void run() {
        for (int i = 0; i < 256; ++i)
            await();
        void* tag;
        for (bool works; queue_->Next(&tag, &works);) {
            auto* call = static_cast<Call*>(tag);
            if (!works || call->isAnswered) {
                delete call;
            } else {
                await();
                call->isAnswered = true;
                call->writer.Finish(call->item, grpc::Status::OK, call);
            }
        }
    }

    int port_ = 0;
    Echo::AsyncService service_;
    std::unique_ptr<grpc::ServerCompletionQueue> queue_;
    std::unique_ptr<grpc::Server> server_;
    std::thread thread_;
};

struct Question {
    Echo::Stub* stub;
    std::uint64_t since;
    Item answer;
    grpc::Status status;
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Item>> reader;

    void ask(Item const& item, grpc::CompletionQueue& queue) {
        context = std::make_unique<grpc::ClientContext>();
        reader = stub->AsyncAsk(context.get(), item, &queue);
        reader->Finish(&answer, &status, this);
    }
};

void run(RpcJob const& job, RpcMeter& meter) {
    Server server;
    Item item;
    if (job.isSmall()) {
        item.set_a(1), item.set_b(2), item.set_c(3), item.set_d(4);
        item.set_e(5), item.set_f(6), item.set_g(7), item.set_h(8);
    } else {
        item.set_content(std::string(job.bytes, 'x'));
    }
    grpc::CompletionQueue queue;
    std::vector<std::unique_ptr<Echo::Stub>> stubs;
    std::vector<std::unique_ptr<Question>> questions;
    for (int i = 0; i < job.connections; ++i) {
        grpc::ChannelArguments arguments;
        arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1); // a connection of its own
        stubs.push_back(Echo::NewStub(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server.port()),
                                                                grpc::InsecureChannelCredentials(), arguments)));
        for (int j = 0; j < job.depth; ++j) {
            questions.push_back(std::make_unique<Question>());
            questions.back()->stub = stubs.back().get();
            questions.back()->since = RpcMeter::now();
            questions.back()->ask(item, queue);
        }
    }
    std::size_t left = questions.size();
    void* tag;
    for (bool works; left != 0 && queue.Next(&tag, &works);) {
        auto* question = static_cast<Question*>(tag);
        bool isRight = question->status.ok() && question->answer.h() == item.h() &&
                       question->answer.content().size() == item.content().size();
        if (!isRight)
            std::abort();
        if (meter.goesOn(question->since))
            question->ask(item, queue);
        else
            --left;
    }
    queue.Shutdown();
    for (bool works; queue.Next(&tag, &works);) {
    }
}

bool const added = bench::addRpc("grpc", run);

} // namespace
