#include "flow/sim/exactly_once.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using flow::DeterministicRandom;
using flow::ExactlyOnce;

TEST_CASE("exactly_once: what may happen is no offence") {
    ExactlyOnce requests;
    CHECK(requests.check().ok());
    requests.sent("done");
    requests.executed("done", "s1");
    requests.acknowledged("done");
    requests.sent("lost");
    requests.sent("reply lost");
    requests.executed("reply lost", "s2");
    requests.sent("retried");
    requests.sent("retried");
    requests.executed("retried", "s1");
    requests.sent("retried");
    requests.acknowledged("retried");
    requests.acknowledged("retried"); // a second reply
    ExactlyOnce::Report report = requests.check();
    CHECK(report.ok());
    CHECK(report.text() == "");
    CHECK(report.sent == 4);
    CHECK(report.executed == 3);
    CHECK(report.acknowledged == 2);
}

TEST_CASE("exactly_once: each fault is reported with its events in order") {
    ExactlyOnce requests;
    SUBCASE("acknowledged, never executed") {
        requests.sent("a");
        requests.acknowledged("a");
        CHECK(requests.check().text() ==
              "request \"a\" was acknowledged but never executed:\n    sent, acknowledged\n");
    }
    SUBCASE("acknowledged, executed twice") {
        requests.sent("a");
        requests.executed("a", "s1");
        requests.acknowledged("a");
        requests.executed("a", "s\n2");
        CHECK(requests.check().text() == "request \"a\" was acknowledged but executed 2 times:\n    "
                                         "sent, executed by \"s1\", acknowledged, executed by \"s\\x0a2\"\n");
    }
    SUBCASE("not acknowledged, executed more than once") {
        requests.sent("a");
        for (int i = 0; i < 3; ++i)
            requests.executed("a", "s");
        CHECK(
            requests.check().text() ==
            "request \"a\" was executed 3 times:\n    sent, executed by \"s\", executed by \"s\", executed by \"s\"\n");
    }
    SUBCASE("never sent") {
        requests.executed("a", "s");
        CHECK(requests.check().text() == "request \"a\" was executed but not sent before:\n    executed by \"s\"\n");
    }
    SUBCASE("sent too late") {
        requests.executed("a", "s");
        requests.sent("a");
        CHECK(requests.check().text() ==
              "request \"a\" was executed but not sent before:\n    executed by \"s\", sent\n");
    }
    SUBCASE("acknowledged, never sent") {
        requests.acknowledged("a");
        CHECK(requests.check().text() == "request \"a\" was acknowledged but not sent before:\n    acknowledged\n");
    }
}

TEST_CASE("exactly_once: offenders are listed by their first events, the others are not") {
    ExactlyOnce requests;
    for (const char* id : {"z", "b", "a", "c"})
        requests.sent(id);
    for (const char* id : {"a", "z", "c", "b", "z", "a"})
        requests.executed(id, "s");
    requests.acknowledged("c");
    ExactlyOnce::Report report = requests.check();
    CHECK_FALSE(report.ok());
    REQUIRE(report.offenders.size() == 2);
    CHECK(report.offenders[0].id == "z");
    CHECK(report.offenders[1].id == "a");
    CHECK(report.offenders[0].fault == "was executed 2 times");
    CHECK(report.offenders[0].events == std::vector<std::string>{"sent", "executed by \"s\"", "executed by \"s\""});
    CHECK(report.text() == report.offenders[0].text() + report.offenders[1].text());
}

TEST_CASE("exactly_once: it agrees with counting") {
    DeterministicRandom random(1);
    int good = 0, bad = 0;
    for (int run = 0; run < 2000; ++run) {
        ExactlyOnce requests;
        std::vector<std::string> wrong;
        for (int id = 0, count = random.randomInt(1, 4); id < count; ++id) {
            std::string name = std::to_string(id);
            bool isSent = random.randomInt(0, 10) > 0, isAcknowledged = random.coinflip();
            int executions = random.randomInt(0, 12) / 5; // 0 and 1 more often than 2
            if (isSent)
                requests.sent(name);
            for (int i = 0; i < executions; ++i)
                requests.executed(name, "s");
            if (isAcknowledged)
                requests.acknowledged(name);
            bool right =
                isSent ? isAcknowledged ? executions == 1 : executions <= 1 : !isAcknowledged && executions == 0;
            if (!right)
                wrong.push_back(name);
        }
        std::vector<std::string> found;
        for (auto const& offender : requests.check().offenders)
            found.push_back(offender.id);
        CHECK(found == wrong);
        ++(wrong.empty() ? good : bad);
    }
    CHECK(good > 400);
    CHECK(bad > 400);
}
