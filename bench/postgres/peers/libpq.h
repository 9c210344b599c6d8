#pragma once
// What the programs with libpq share. Values go and come in the binary format, as ours do.

#include "../works.h"

#include <arpa/inet.h>
#include <cstring>
#include <libpq-fe.h>
#include <memory>

namespace bench {

struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

/// A statement `each` is prepared.
inline PGconn* connect(char const* url, Work work) {
    PGconn* made = PQconnectdb(url);
    if (PQstatus(made) != CONNECTION_OK)
        fail(PQerrorMessage(made));
    char const* text = work == Work::Insert ? kInsert : work == Work::All || work == Work::Stream ? kAll : kOne;
    if (Result prepared(PQprepare(made, "each", text, 0, nullptr)); PQresultStatus(prepared.get()) != PGRES_COMMAND_OK)
        fail(PQerrorMessage(made));
    return made;
}

/// The parameters of a query.
struct Parameters {
    Parameters(Work work, int id)
        : count(work == Work::All || work == Work::Stream ? 0
                : work == Work::Insert                    ? 2
                                                          : 1),
          numbers{htonl(id), htonl(7)} {}
    int count;
    std::uint32_t numbers[2];
    char const* values[2] = {reinterpret_cast<char*>(&numbers[0]), reinterpret_cast<char*>(&numbers[1])};
    int lengths[2] = {4, 4}, formats[2] = {1, 1};
};

inline int numberOf(PGresult const* result, int row, int column) {
    std::uint32_t number = 0;
    std::memcpy(&number, PQgetvalue(result, row, column), sizeof number);
    return static_cast<int>(ntohl(number));
}
inline Item itemOf(PGresult const* result, int row = 0) {
    if (row >= PQntuples(result))
        fail(PQresultErrorMessage(result));
    std::string name(PQgetvalue(result, row, 1), static_cast<std::size_t>(PQgetlength(result, row, 1)));
    return {numberOf(result, row, 0), std::move(name), numberOf(result, row, 2)};
}

} // namespace bench
