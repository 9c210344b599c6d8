#include "net/message/topic_set.h"

#include "flow/base/random.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace flow;
using namespace flow::net;

TEST_CASE("topics: a message matches if it begins with one") {
    TopicSet topics;
    CHECK_FALSE(topics.matches(""));
    CHECK(topics.add("ab"));
    CHECK_FALSE(topics.add("ab"));
    CHECK(topics.matches("ab"));
    CHECK(topics.matches("abc"));
    CHECK_FALSE(topics.matches("a"));
    CHECK_FALSE(topics.remove("ab")); // it was added twice
    CHECK(topics.remove("ab"));
    CHECK_FALSE(topics.remove("ab"));
    CHECK_FALSE(topics.matches("ab"));
    CHECK(topics.add(""));
    CHECK(topics.matches("anything"));
    CHECK(topics.bytes() == 0);
    topics.add("abc");
    topics.add("abd");
    CHECK(topics.bytes() == 4);
    topics.remove("abc");
    CHECK(topics.bytes() == 3);
}

TEST_CASE("topics: the same as a list that is searched") {
    DeterministicRandom random(3);
    TopicSet topics;
    std::vector<std::string> list;
    for (int i = 0; i < 5000; ++i) {
        std::string text;
        for (int size = random.randomInt(0, 5); size > 0; --size)
            text.push_back(static_cast<char>('a' + random.randomInt(0, 3)));
        auto found = std::find(list.begin(), list.end(), text);
        switch (random.randomInt(0, 3)) {
        case 0:
            CHECK(topics.add(text) == (found == list.end()));
            list.push_back(text);
            break;
        case 1:
            CHECK(topics.remove(text) == (std::count(list.begin(), list.end(), text) == 1));
            if (found != list.end())
                list.erase(found);
            break;
        default:
            CHECK(topics.matches(text) == std::any_of(list.begin(), list.end(), [&](std::string const& topic) {
                      return text.starts_with(topic);
                  }));
        }
    }
}
