#include "flow/sim/detail/sparse_bytes.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

std::string read(SparseBytes const& bytes, std::int64_t offset, int length) {
    std::string text(static_cast<std::size_t>(length), '?');
    bytes.read(offset, reinterpret_cast<std::uint8_t*>(text.data()), length);
    return text;
}

} // namespace

TEST_CASE("sparse bytes: zeros until something is written, however far") {
    constexpr std::int64_t kFar = std::int64_t{1} << 60;
    SparseBytes bytes;
    CHECK(bytes.size() == 0);
    CHECK(read(bytes, kFar, 3) == std::string(3, '\0'));
    bytes.write(kFar, "far"_sr);
    CHECK(bytes.size() == 0);
    CHECK(read(bytes, kFar - 1, 5) == std::string("\0far\0", 5));
}

TEST_CASE("sparse bytes: resize drops what is behind the size") {
    SparseBytes bytes;
    bytes.write(0, StringRef(std::string(20000, 'x')));
    bytes.resize(5000);
    CHECK(bytes.size() == 5000);
    CHECK(read(bytes, 4999, 3) == std::string("x\0\0", 3));
    CHECK(read(bytes, 10000, 2) == std::string(2, '\0'));
    bytes.resize(20000);
    CHECK(read(bytes, 4999, 3) == std::string("x\0\0", 3));
    bytes.resize(4096);
    CHECK(read(bytes, 4095, 2) == std::string("x\0", 2));
    bytes.resize(0);
    CHECK(read(bytes, 0, 1) == std::string(1, '\0'));
}

TEST_CASE("sparse bytes: flips one bit, also where nothing has been written") {
    SparseBytes bytes;
    bytes.write(10, "a"_sr);
    bytes.flipBit(10, 1);
    bytes.flipBit(5000, 0);
    CHECK(read(bytes, 10, 1) == "c");
    CHECK(read(bytes, 5000, 1) == "\1");
}

TEST_CASE("sparse bytes: like a string") {
    DeterministicRandom random(3);
    SparseBytes bytes;
    std::string model(30000, '\0');
    for (int i = 0; i < 1000; ++i) {
        auto offset = random.randomInt(0, 20000);
        std::string text = random.randomAlphaNumeric(random.randomInt(0, 10000));
        bytes.write(offset, text);
        model.replace(static_cast<std::size_t>(offset), text.size(), text);
    }
    CHECK(read(bytes, 0, 30000) == model);
}
