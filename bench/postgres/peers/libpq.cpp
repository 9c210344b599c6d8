// Blocking libpq: one task on one connection. pipelined-20 has a Sync for each query.

#include "libpq.h"
#include "../../client_row.h"

#include <vector>

namespace {

using namespace bench;

Result askOne(PGconn* db, Work work, int id) {
    Parameters given(work, id);
    return Result(PQexecPrepared(db, "each", given.count, given.values, given.lengths, given.formats, 1));
}

void pipeline(PGconn* db, int id) {
    PQenterPipelineMode(db);
    for (int i = 0, each = id; i < kQueries; ++i, each = nextId(each)) {
        Parameters given(Work::One, each);
        PQsendQueryPrepared(db, "each", given.count, given.values, given.lengths, given.formats, 1);
        PQpipelineSync(db);
    }
    for (int i = 0; i < kQueries; ++i, id = nextId(id)) {
        check(itemOf(Result(PQgetResult(db)).get()), id);
        Result none(PQgetResult(db)), sync(PQgetResult(db));
        if (PQresultStatus(sync.get()) != PGRES_PIPELINE_SYNC)
            fail(PQerrorMessage(db));
    }
    PQexitPipelineMode(db);
}

void ask(PGconn* db, Work work, int id) {
    switch (work) {
    case Work::One:
        check(itemOf(askOne(db, work, id).get()), id);
        break;
    case Work::Queries:
        for (int i = 0; i < kQueries; ++i, id = nextId(id))
            check(itemOf(askOne(db, work, id).get()), id);
        break;
    case Work::Pipelined:
        pipeline(db, id);
        break;
    case Work::All: {
        Result all(PQexecParams(db, kAll, 0, nullptr, nullptr, nullptr, nullptr, 1));
        std::vector<Item> items;
        for (int i = 0; i < kItems; ++i)
            items.push_back(itemOf(all.get(), i));
        for (int i = 0; i < kItems; ++i)
            check(items[static_cast<std::size_t>(i)], i + 1);
        break;
    }
    case Work::Stream:
        PQsendQueryPrepared(db, "each", 0, nullptr, nullptr, nullptr, 1);
        PQsetSingleRowMode(db);
        for (int i = 1; i <= kItems; ++i)
            check(itemOf(Result(PQgetResult(db)).get()), i);
        while (PGresult* rest = PQgetResult(db))
            PQclear(rest);
        break;
    case Work::Insert:
        if (PQresultStatus(askOne(db, work, id).get()) != PGRES_COMMAND_OK)
            fail(PQerrorMessage(db));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6 || std::string_view(argv[2]) != "1" || std::string_view(argv[3]) != "1")
        fail("usage: postgres_libpq WORK 1 1 SECONDS URL");
    Work work = workOf(argv[1]);
    PGconn* db = connect(argv[5], work);
    for (double seconds : {kWarmUp, std::atof(argv[4])}) {
        ClientRow row(seconds);
        for (int id = 1; row.goesOn(); id = nextId(id)) {
            std::uint64_t asked = ClientRow::now();
            ask(db, work, id);
            row.add(asked);
        }
        if (seconds != kWarmUp)
            row.print();
    }
    PQfinish(db);
}
