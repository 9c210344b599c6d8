#include "flow/flow.h"
#include "net/postgres/connection.h"
#include <cstdio>
using namespace flow;
using namespace flow::net;

struct Item {
    std::string name;
    int price;
    std::optional<int> stock;
};

Future<Void> run(std::string url) {
    postgres::Connection db = co_await postgres::connect(url);
    co_await db.execute("CREATE TEMP TABLE item (name text PRIMARY KEY, price int NOT NULL, stock int)");
    postgres::Transaction change = co_await db.begin();
    co_await change.execute("INSERT INTO item VALUES ($1, $2, $3)", "pear", 30, 7);
    co_await change.execute("INSERT INTO item VALUES ($1, $2, $3)", "plum", 20, nullptr);
    co_await change.commit();
    auto cheap = co_await db.query<Item>("SELECT * FROM item WHERE price < $1 ORDER BY price", 100);
    for (Item const& item : cheap)
        std::printf("%s: %d, %d left\n", item.name.c_str(), item.price, item.stock.value_or(0));
}

int main(int, char** arguments) {
    RealLoop loop;
    loop.run(run(arguments[1]));
}
