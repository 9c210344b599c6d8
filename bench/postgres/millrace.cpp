// Our client: tasks share connections, and so pipeline; or with the word `pool` a Pool gives each query a connection.

#include "bench/client_row.h"
#include "bench/postgres/works.h"
#include "flow/combine/all.h"
#include "flow/loop/real_loop.h"
#include "net/postgres/pool.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace flow;
using namespace flow::net;
using namespace bench;

Future<Void> askOnce(postgres::Queries* db, Work work, int id) {
    switch (work) {
    case Work::One: {
        Future<Item> asking = db->one<Item>(kOne, id);
        Item item = co_await std::move(asking);
        check(item, id);
        break;
    }
    case Work::Queries:
        for (int i = 0; i < kQueries; ++i, id = nextId(id)) {
            Future<Item> asking = db->one<Item>(kOne, id);
            Item item = co_await std::move(asking);
            check(item, id);
        }
        break;
    case Work::Pipelined: {
        std::vector<Future<Item>> asking;
        for (int i = 0, each = id; i < kQueries; ++i, each = nextId(each))
            asking.push_back(db->one<Item>(kOne, each));
        auto answering = all(std::move(asking));
        std::vector<Item> items = co_await std::move(answering);
        for (Item const& item : items) {
            check(item, id);
            id = nextId(id);
        }
        break;
    }
    case Work::All: {
        Future<std::vector<Item>> asking = db->query<Item>(kAll);
        std::vector<Item> items = co_await std::move(asking);
        for (std::size_t i = 0; i < kItems; ++i)
            check(items.at(i), static_cast<int>(i + 1));
        break;
    }
    case Work::Stream: {
        Future<postgres::Rows<Item>> opening = db->stream<Item>(kAll);
        postgres::Rows<Item> rows = co_await std::move(opening);
        id = 0;
        while (std::optional<Item> item = co_await rows.next())
            check(*item, ++id);
        break;
    }
    case Work::Insert: {
        Future<std::uint64_t> asking = db->execute(kInsert, id, 7);
        co_await std::move(asking);
    }
    }
}

Future<Void> ask(postgres::Queries* db, Work work, ClientRow* row, int id) {
    for (; row->goesOn(); id = nextId(id)) {
        std::uint64_t asked = ClientRow::now();
        Future<Void> asking = askOnce(db, work, id);
        co_await std::move(asking);
        row->add(asked);
    }
}

Future<Void> askAll(std::vector<postgres::Queries*> const* from, Work work, ClientRow* row, int tasks) {
    std::vector<Future<Void>> asking;
    for (int i = 0; i < tasks; ++i)
        asking.push_back(ask((*from)[static_cast<std::size_t>(i) % from->size()], work, row, nextId(i * 37)));
    auto asked = all(std::move(asking));
    co_await std::move(asked);
}

Future<Void> measure(std::string url, bool isPool, int connections, Work work, int tasks, double seconds) {
    postgres::Pool pool(url, {.most = static_cast<std::size_t>(connections)});
    std::vector<postgres::Connection> made;
    std::vector<postgres::Queries*> from(isPool ? 1u : 0u, &pool);
    for (int i = 0; i < connections && !isPool; ++i) {
        Future<postgres::Connection> connecting = postgres::connect(url);
        made.push_back(co_await std::move(connecting));
    }
    for (postgres::Connection& each : made)
        from.push_back(&each);
    ClientRow warmUp(kWarmUp);
    Future<Void> warming = askAll(&from, work, &warmUp, tasks);
    co_await std::move(warming);
    ClientRow row(seconds);
    Future<Void> measuring = askAll(&from, work, &row, tasks);
    co_await std::move(measuring);
    row.print();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6 && argc != 7)
        fail("usage: postgres_millrace WORK TASKS CONNECTIONS SECONDS URL [pool]");
    RealLoop loop;
    loop.run(measure(argv[5], argc == 7, std::atoi(argv[3]), workOf(argv[1]), std::atoi(argv[2]), std::atof(argv[4])));
}
