#include "net/message/detail/topic_set.h"

#include "flow/base/random.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace flow;
using namespace flow::net;

TEST_CASE("topics: a message matches if it begins with one") {
    TopicSet topics;
    CHECK_FALSE(topics.matches(""));
    CHECK_FALSE(topics.remove(""));
    CHECK(topics.add("ab"));
    CHECK_FALSE(topics.add("ab"));
    CHECK(topics.matches("ab"));
    CHECK(topics.matches("abc"));
    CHECK_FALSE(topics.matches("a"));
    CHECK_FALSE(topics.matches("ba"));
    CHECK(topics.remove("ab")); // although it was added twice
    CHECK_FALSE(topics.remove("ab"));
    CHECK_FALSE(topics.matches("ab"));
    CHECK(topics.add(""));
    CHECK(topics.matches("anything"));
    CHECK(topics.bytes() == 0);
    topics.add(std::string(10'000, '\0'));
    topics.add("abd");
    CHECK(topics.bytes() == 10'003);
    topics.remove(std::string(10'000, '\0'));
    CHECK(topics.bytes() == 3);
}

TEST_CASE("topics: the same as a list that is searched") {
    DeterministicRandom random(3);
    TopicSet topics;
    std::set<std::string> list;
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        int letters = i / 2000 % 2 == 0 ? 3 : 20; // few topics, and many
        for (int size = random.randomInt(0, 6); size > 0; --size)
            text.push_back(static_cast<char>('a' + random.randomInt(0, letters)));
        switch (random.randomInt(0, 4)) {
        case 0:
            CHECK(topics.add(text) == list.insert(text).second);
            break;
        case 1:
            CHECK(topics.remove(text) == (list.erase(text) == 1));
            break;
        case 2:
            if (!topics.isEmpty() && i % 5 == 0)
                CHECK(list.erase(topics.removeFirst()) == 1);
            break;
        default:
            CHECK(topics.matches(text) == std::any_of(list.begin(), list.end(), [&](std::string const& topic) {
                      return text.starts_with(topic);
                  }));
        }
        CHECK(topics.isEmpty() == list.empty());
    }
    while (!topics.isEmpty())
        CHECK(list.erase(topics.removeFirst()) == 1);
    CHECK(list.empty());
    CHECK(topics.bytes() == 0);
    CHECK(topics.heldBytes() < 100);
}

TEST_CASE("topics: memory is at most 32 bytes a topic and four times its own, whatever is removed between") {
    DeterministicRandom random(5);
    for (int size : {1, 3, 30, 1000}) {
        TopicSet topics;
        std::set<std::string> list;
        for (int step = 0; step < 5000 && topics.bytes() < 300'000; ++step) {
            std::string text;
            for (int i = 0; i < size; ++i)
                text.push_back(static_cast<char>(random.randomInt(0, 256)));
            topics.add(text);
            list.insert(text);
            if (random.randomInt(0, 3) == 0) {
                topics.remove(*list.begin());
                list.erase(list.begin());
            }
            CHECK(topics.heldBytes() <= 32 * list.size() + 4 * topics.bytes() + 64);
        }
    }
}
