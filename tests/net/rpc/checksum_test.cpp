#include "net/rpc/detail/checksum.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;

TEST_CASE("checksum: the values that RFC 3720 gives, and the same with and without the instruction") {
    CHECK(crc32c(StringRef()) == 0);
    CHECK(crc32c("123456789"_sr) == 0xE3069283);
    CHECK(crc32c(StringRef(std::string(32, '\0'))) == 0x8A9136AA);
    CHECK(crc32c(StringRef(std::string(32, '\xFF'))) == 0x62A8AB43);
    DeterministicRandom random(1);
    std::vector<int> sizes{3071, 3072, 3073, 6144, 9999, 100'000}; // around what is read in several lanes
    for (int size = 0; size < 200; ++size)
        sizes.push_back(size);
    for (int size : sizes) {
        std::string bytes;
        for (int i = 0; i < size; ++i)
            bytes.push_back(static_cast<char>(random.randomInt(0, 256)));
        StringRef all(bytes), first = all.substr(0, size / 3), rest = all.substr(size / 3);
        CHECK(crc32c(all) == rpc::crc32cByTable(all));
        CHECK(crc32c(rest, crc32c(first)) == crc32c(all));
        CHECK(rpc::crc32cByTable(rest, crc32c(first)) == crc32c(all));
    }
}
