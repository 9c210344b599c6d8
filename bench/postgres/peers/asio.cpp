// Boost.Asio with libpq in pipeline mode: tasks are chains of callbacks, and share connections. One reader for each
// connection waits for its socket.

#include "../../client_row.h"
#include "libpq.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <deque>
#include <functional>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace bench;

class Connection {
public:
    /// Called with each result of the query; then with nullptr.
    using Taker = std::function<void(PGresult*)>;

    Connection(asio::io_context& context, char const* url, Work work)
        : work_(work), db_(connect(url, work)), socket_(context, PQsocket(db_)) {
        PQsetnonblocking(db_, 1);
        PQenterPipelineMode(db_);
    }
    ~Connection() {
        socket_.release();
        PQfinish(db_);
    }
    Connection(Connection const&) = delete;

    void ask(int id, Taker taker) {
        waiting_.push_back({id, std::move(taker)});
        send();
        readOn();
    }

private:
    struct Query {
        int id;
        Taker taker;
    };

    /// A stream has the connection alone.
    void send() {
        while (!waiting_.empty() && (work_ != Work::Stream || sent_.empty())) {
            Parameters given(work_, waiting_.front().id);
            if (!PQsendQueryPrepared(db_, "each", given.count, given.values, given.lengths, given.formats, 1) ||
                !PQpipelineSync(db_) || (work_ == Work::Stream && !PQsetSingleRowMode(db_)))
                fail(PQerrorMessage(db_));
            sent_.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        writeOn();
    }
    void writeOn() {
        if (isWriting_ || PQflush(db_) == 0)
            return;
        isWriting_ = true;
        socket_.async_wait(asio::posix::descriptor_base::wait_write, [this](boost::system::error_code) {
            isWriting_ = false;
            writeOn();
        });
    }
    void readOn() {
        if (isReading_ || sent_.empty())
            return;
        isReading_ = true;
        socket_.async_wait(asio::posix::descriptor_base::wait_read, [this](boost::system::error_code) {
            isReading_ = false;
            if (!PQconsumeInput(db_))
                fail(PQerrorMessage(db_));
            while (!sent_.empty() && !PQisBusy(db_)) {
                Result result(PQgetResult(db_));
                if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) {
                    Taker taker = std::move(sent_.front().taker);
                    sent_.pop_front();
                    taker(nullptr);
                } else if (result) {
                    sent_.front().taker(result.get());
                }
            }
            send();
            readOn();
        });
    }

    Work work_;
    PGconn* db_;
    asio::posix::stream_descriptor socket_;
    std::deque<Query> waiting_, sent_;
    bool isReading_ = false, isWriting_ = false;
};

class Task {
public:
    Task(Connection* db, Work work, ClientRow* row, int id) : db_(db), work_(work), row_(row), id_(id) {}
    void begin() {
        if (!row_->goesOn())
            return;
        asked_ = ClientRow::now();
        left_ = work_ == Work::Queries || work_ == Work::Pipelined ? kQueries : 1;
        toAsk_ = left_;
        read_ = 0;
        do
            askOne();
        while (work_ == Work::Pipelined && toAsk_ > 0);
    }

private:
    void askOne() {
        --toAsk_;
        db_->ask(id_, [this, id = id_](PGresult* result) { take(result, id); });
        id_ = nextId(id_);
    }
    void take(PGresult* result, int id) {
        if (result) {
            check(result, id);
        } else if (--left_ == 0) {
            row_->add(asked_);
            begin();
        } else if (toAsk_ > 0) {
            askOne();
        }
    }
    void check(PGresult* result, int id) {
        if (work_ == Work::Insert && PQresultStatus(result) == PGRES_COMMAND_OK)
            return;
        if (work_ != Work::All && work_ != Work::Stream) {
            bench::check(itemOf(result), id);
            return;
        }
        std::vector<Item> items;
        for (int i = 0; i < PQntuples(result); ++i)
            items.push_back(itemOf(result, i));
        for (Item const& item : items)
            bench::check(item, ++read_);
    }

    Connection* db_;
    Work work_;
    ClientRow* row_;
    int id_;
    std::uint64_t asked_ = 0;
    int toAsk_ = 0, left_ = 0, read_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 6)
        fail("usage: postgres_asio WORK TASKS CONNECTIONS SECONDS URL");
    Work work = workOf(argv[1]);
    asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    std::deque<Connection> connections;
    for (int i = 0; i < std::atoi(argv[3]); ++i)
        connections.emplace_back(context, argv[5], work);
    for (double seconds : {kWarmUp, std::atof(argv[4])}) {
        ClientRow row(seconds);
        std::deque<Task> tasks;
        for (int i = 0; i < std::atoi(argv[2]); ++i)
            tasks.emplace_back(&connections[static_cast<std::size_t>(i) % connections.size()], work, &row,
                               nextId(i * 37));
        for (Task& each : tasks)
            each.begin();
        context.restart();
        context.run();
        if (seconds != kWarmUp)
            row.print();
    }
}
