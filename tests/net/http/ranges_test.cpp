#include "net/http/detail/ranges.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow::net::http::detail;

namespace http_ranges_test {
namespace {

/// "first+size" for each range; "416" if there is none; "whole" if the field is ignored.
std::string rangesIn(std::string_view field, std::uint64_t size, std::size_t most = 8) {
    auto ranges = parseRanges(field, size, most);
    if (!ranges)
        return "whole";
    std::string text;
    for (ByteRange const& each : *ranges)
        text += (text.empty() ? "" : " ") + std::to_string(each.first) + "+" + std::to_string(each.size);
    return text.empty() ? "416" : text;
}

} // namespace

TEST_CASE("http ranges: one") {
    CHECK(rangesIn("bytes=0-0", 10) == "0+1");
    CHECK(rangesIn("bytes=2-4", 10) == "2+3");
    CHECK(rangesIn("Bytes=2-", 10) == "2+8");
    CHECK(rangesIn("bytes=-3", 10) == "7+3");
    CHECK(rangesIn("bytes=-30", 10) == "0+10");
    CHECK(rangesIn("bytes=9-100", 10) == "9+1");
    CHECK(rangesIn("bytes=0-99999999999999999999999999", 10) == "0+10");
    CHECK(rangesIn("bytes=0-18446744073709551615", 10) == "0+10");
}

TEST_CASE("http ranges: outside of the file") {
    CHECK(rangesIn("bytes=10-", 10) == "416");
    CHECK(rangesIn("bytes=10-20, 30-", 10) == "416");
    CHECK(rangesIn("bytes=-0", 10) == "416");
    CHECK(rangesIn("bytes=99999999999999999999999999-", 10) == "416");
    CHECK(rangesIn("bytes=0-", 0) == "416");
    CHECK(rangesIn("bytes=-5", 0) == "416");
}

TEST_CASE("http ranges: several") {
    CHECK(rangesIn("bytes=0-1,5-6", 10) == "0+2 5+2");
    CHECK(rangesIn("bytes= 5-6 ,\t-1,, 0-0", 10) == "5+2 9+1 0+1");
    CHECK(rangesIn("bytes=0-1,100-", 10) == "0+2");
    CHECK(rangesIn("bytes=0-4,0-4", 10) == "0+5 0+5");
    CHECK(rangesIn("bytes=0-,0-,0-", 10) == "whole"); // more bytes than the file has
    CHECK(rangesIn("bytes=0-0,1-1,2-2", 10, 3) == "0+1 1+1 2+1");
    CHECK(rangesIn("bytes=0-0,1-1,2-2,3-3", 10, 3) == "whole");
    CHECK(rangesIn("bytes=100-,101-,102-,103-", 10, 3) == "whole");
}

TEST_CASE("http ranges: what is no range is ignored") {
    for (char const* wrong :
         {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-", "bytes=1-b", "bytes=4-2", "lines=1-2", "bytes 1-2",
          "bytes=1-2-3", "bytes=+1-2", "bytes=--2", "bytes=1-2,x", "bytes=1 - 2"})
        CHECK_MESSAGE(rangesIn(wrong, 10) == "whole", wrong);
}

} // namespace http_ranges_test
