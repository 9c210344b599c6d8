#pragma once
// What the programs of bench/postgres ask, each with its library: PROGRAM WORK TASKS CONNECTIONS SECONDS URL. Before
// the measured seconds they ask for kWarmUp seconds. tools/benchlib/postgres/command.py makes the tables.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench {

constexpr int kItems = 1000; // in the table, with the ids from 1 on
constexpr int kQueries = 20; // of queries-20 and pipelined-20
constexpr double kWarmUp = 0.1;

constexpr char kOne[] = "SELECT id, name, price FROM item WHERE id = $1";
constexpr char kAll[] = "SELECT id, name, price FROM item";
constexpr char kInsert[] = "INSERT INTO sale (item, amount) VALUES ($1, $2)";

struct Item {
    int id = 0;
    std::string name = {};
    int price = 0;
};

enum class Work { One, Queries, Pipelined, All, Stream, Insert };

[[noreturn]] inline void fail(char const* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

inline Work workOf(std::string_view name) {
    constexpr std::string_view kNames[] = {"row", "queries-20", "pipelined-20", "rows-1000", "stream-1000", "insert"};
    for (int i = 0; i < 6; ++i)
        if (kNames[i] == name)
            return Work(i);
    fail("there is no such work");
}

inline int nextId(int id) {
    return id % kItems + 1;
}
/// Every program looks at all that it gets.
inline void check(Item const& item, int id) {
    if (item.id != id || item.name.empty() || item.price != 10 * id)
        fail("the server has answered something else");
}

} // namespace bench
