#include "flow/base/format.h"

#include <doctest/doctest.h>

using flow::format;

TEST_CASE("format: short, long and empty") {
    CHECK(format("%d and %s", 7, "text") == "7 and text");
    CHECK(format("%s", "").empty());
    CHECK(format("100%%") == "100%");
    for (int length : {250, 251, 252, 253, 254, 255, 256, 257, 5000})
        CHECK(format("%s|%d", std::string(static_cast<std::size_t>(length), 'x').c_str(), length) ==
              std::string(static_cast<std::size_t>(length), 'x') + "|" + std::to_string(length));
}
