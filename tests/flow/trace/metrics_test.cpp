#include "flow/trace/metrics.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <latch>
#include <memory>
#include <thread>

using namespace flow;

TEST_CASE("metrics: a page of counters, gauges and histograms, by name") {
    metrics::Histogram seconds("shop_seconds", "How long.\nIn \\ all.", {0.5, 1}, {{"kind", "a\"b"}});
    metrics::Counter reads("shop_requests_total", "Requests.", {{"kind", "read"}});
    metrics::Counter writes("shop_requests_total", "Requests.", {{"kind", "write"}});
    metrics::Gauge open("shop_open", "Open.");
    reads.add();
    reads.add(2);
    open.set(5);
    open.add(-1.5);
    for (double value : {0.25, 0.5, 0.75, 8.0})
        seconds.observe(value);
    CHECK(reads.value() == 3);
    CHECK(open.value() == 3.5);
    CHECK(seconds.count() == 4);
    CHECK(seconds.sum() == 9.5);
    CHECK(metrics::text() == "# HELP shop_open Open.\n"
                             "# TYPE shop_open gauge\n"
                             "shop_open 3.5\n"
                             "# HELP shop_requests_total Requests.\n"
                             "# TYPE shop_requests_total counter\n"
                             "shop_requests_total{kind=\"read\"} 3\n"
                             "shop_requests_total{kind=\"write\"} 0\n"
                             "# HELP shop_seconds How long.\\nIn \\\\ all.\n"
                             "# TYPE shop_seconds histogram\n"
                             "shop_seconds_bucket{kind=\"a\\\"b\",le=\"0.5\"} 2\n"
                             "shop_seconds_bucket{kind=\"a\\\"b\",le=\"1\"} 3\n"
                             "shop_seconds_bucket{kind=\"a\\\"b\",le=\"+Inf\"} 4\n"
                             "shop_seconds_sum{kind=\"a\\\"b\"} 9.5\n"
                             "shop_seconds_count{kind=\"a\\\"b\"} 4\n");
}

TEST_CASE("metrics: those with one name and labels are one line; what is destroyed is not on the page") {
    auto one = std::make_unique<metrics::Counter>("jobs", "Jobs.");
    metrics::Counter two("jobs", "Jobs.");
    auto three = std::make_unique<metrics::Counter>("jobs", "Jobs.");
    one->add(1);
    two.add(10);
    three->add(100);
    CHECK(metrics::text() == "# HELP jobs Jobs.\n# TYPE jobs counter\njobs 111\n");
    one.reset();
    CHECK(metrics::text() == "# HELP jobs Jobs.\n# TYPE jobs counter\njobs 110\n");
    three.reset();
    CHECK(metrics::text() == "# HELP jobs Jobs.\n# TYPE jobs counter\njobs 10\n");
}

TEST_CASE("metrics: bounds") {
    CHECK((metrics::powers(0.5, 2, 3) == std::vector<double>{0.5, 1, 2}));
    metrics::Histogram none("h", "", {});
    none.observe(NAN);
    CHECK(none.count() == 1);
    CHECK_DIES(metrics::Histogram("other", "", {1, 1}), "do not rise");
    CHECK_DIES(metrics::Histogram("other", "", {1, INFINITY}), "are finite");
    CHECK_DIES(metrics::Histogram("other", "", {NAN}), "are finite");
    CHECK_DIES(metrics::powers(0, 2, 3), "do not rise");
}

TEST_CASE("metrics: of what is no number a histogram says only that it came") {
    metrics::Histogram sizes("sizes", "", {1, 2});
    sizes.observe(NAN);
    sizes.observe(INFINITY);
    sizes.observe(-INFINITY);
    std::string page = metrics::text();
    CHECK(page.find("sizes_bucket{le=\"1\"} 1\nsizes_bucket{le=\"2\"} 1\nsizes_bucket{le=\"+Inf\"} 3\n") !=
          std::string::npos);
}

TEST_CASE("metrics: histograms that are one line have the same bounds") {
    metrics::Histogram one("sizes", "", {1, 2}, {{"kind", "a"}});
    metrics::Histogram same("sizes", "", {1, 2}, {{"kind", "a"}});
    metrics::Histogram another("sizes", "", {5}, {{"kind", "b"}});
    one.observe(1);
    same.observe(2);
    CHECK(metrics::text().find("sizes_bucket{kind=\"a\",le=\"1\"} 1\nsizes_bucket{kind=\"a\",le=\"2\"} 2\n") !=
          std::string::npos);
    CHECK_DIES(metrics::Histogram("sizes", "", {1}, {{"kind", "a"}}), "different bounds");
}

TEST_CASE("metrics: wrong names end the program with a sentence") {
    metrics::Counter jobs("jobs", "");
    CHECK_DIES(metrics::Counter("9jobs", ""), "does not begin with a digit");
    CHECK_DIES(metrics::Counter("", ""), "a metric's name has letters");
    CHECK_DIES(metrics::Counter("x", "", {{"a-b", "c"}}), "a label's name has letters");
    CHECK_DIES(metrics::Counter("x", "", {{"a:b", "c"}}), "a label's name has letters");
    CHECK_DIES(metrics::Counter("x", "", {{"a", "b"}, {"a", "c"}}), "a label twice");
    CHECK_DIES(metrics::Histogram("y", "", {1}, {{"le", "b"}}), "the label le");
    metrics::Counter colon("a:b", "");
    CHECK_DIES(metrics::Gauge("jobs", ""), "different kinds");
}

TEST_CASE("metrics: the page has the metrics of all threads, and adds up those of one line") {
    metrics::Counter here("jobs", "Jobs.");
    here.add(1);
    std::latch isMade(1), isRead(1);
    std::thread other([&] {
        metrics::Counter there("jobs", "Jobs.");
        metrics::Histogram sizes("sizes", "", {1});
        there.add(10);
        isMade.count_down();
        isRead.wait();
    });
    isMade.wait();
    std::string page = metrics::text();
    isRead.count_down();
    other.join();
    CHECK(page.find("jobs 11\n") != std::string::npos);
    CHECK(page.find("sizes_count 0\n") != std::string::npos);
    CHECK(metrics::text() == "# HELP jobs Jobs.\n# TYPE jobs counter\njobs 1\n");
}

TEST_CASE("metrics: one thread counts while another one makes pages") {
    std::atomic<bool> isRead = false;
    std::latch begins(2);
    std::thread counting([&] {
        metrics::Counter jobs("jobs", "");
        metrics::Gauge open("open", "");
        metrics::Histogram sizes("sizes", "", {1, 2});
        begins.arrive_and_wait();
        while (!isRead) {
            jobs.add();
            open.add(0.5);
            sizes.observe(1.5);
            metrics::Counter brief("brief", "");
        }
    });
    begins.arrive_and_wait();
    for (int i = 0; i < 100; ++i)
        CHECK(metrics::text().find("# TYPE sizes histogram\n") != std::string::npos);
    isRead = true;
    counting.join();
}

TEST_CASE("metrics: a gauge with a function is read for each page, by its own thread") {
    double waiting = 3;
    metrics::Gauge mine("queue", "Orders.", [&] { return waiting; }, {{"of", "me"}});
    metrics::Gauge plain("queue", "Orders.", {{"of", "me"}});
    plain.set(0.5);
    CHECK(metrics::text() == "# HELP queue Orders.\n# TYPE queue gauge\nqueue{of=\"me\"} 3.5\n");
    waiting = 4;
    CHECK(metrics::text().find("queue{of=\"me\"} 4.5\n") != std::string::npos);

    std::uint64_t page = metrics::newPage();
    std::latch isMade(1), isAsked(1), isRead(1), isOver(1);
    std::thread other([&] {
        metrics::Gauge gauge("theirs", "", [] { return 7.0; });
        isMade.count_down();
        isAsked.wait();
        metrics::readGauges(page);
        isRead.count_down();
        isOver.wait();
    });
    isMade.wait();
    CHECK(metrics::text().find("theirs") == std::string::npos);
    CHECK(metrics::text(page).find("theirs") == std::string::npos);
    isAsked.count_down();
    isRead.wait();
    CHECK(metrics::text(page).find("theirs 7\n") != std::string::npos);
    CHECK(metrics::text().find("theirs") == std::string::npos);
    isOver.count_down();
    other.join();
}
