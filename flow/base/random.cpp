#include "flow/base/random.h"

#include <algorithm>
#include <bit>
#include <random>

namespace flow {
namespace {

constinit thread_local DeterministicRandom* current = nullptr;

DeterministicRandom* firstOfThread() {
    thread_local DeterministicRandom random(1);
    return &random;
}

} // namespace

std::uint32_t DeterministicRandom::randomSkewedUInt32(std::uint32_t begin, std::uint32_t end) {
    FLOW_ASSERT(1 <= begin && begin < end, "randomSkewedUInt32 needs 1 <= begin < end");
    // All bit widths are equally likely, and all numbers of a width are equally likely. If only a part of the numbers
    // of a width is in [begin, end), the width is less likely, in proportion to that part.
    auto first = [&](int bits) { return std::max<std::int64_t>(begin, std::int64_t{1} << (bits - 1)); };
    auto weight = [&](int bits) {
        return (std::min<std::int64_t>(end, std::int64_t{1} << bits) - first(bits)) << (32 - bits);
    };
    std::int64_t all = 0;
    for (int bits = std::bit_width(begin), last = std::bit_width(end - 1); bits <= last; ++bits)
        all += weight(bits);
    std::int64_t place = randomInt64(0, all);
    int bits = std::bit_width(begin);
    while (place >= weight(bits))
        place -= weight(bits++);
    return static_cast<std::uint32_t>(first(bits) + (place >> (32 - bits)));
}

char DeterministicRandom::randomAlphaNumeric() {
    static constexpr char kLetters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return kLetters[randomInt(0, sizeof kLetters - 1)];
}

std::string DeterministicRandom::randomAlphaNumeric(int length) {
    std::string text;
    for (int i = 0; i < length; ++i)
        text += randomAlphaNumeric();
    return text;
}

void DeterministicRandom::randomBytes(void* out, std::size_t count) {
    auto* bytes = static_cast<unsigned char*>(out);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<unsigned char>(randomUInt64() >> 56);
}

DeterministicRandom* deterministicRandom() {
    if (!current) [[unlikely]]
        current = firstOfThread();
    return current;
}

DeterministicRandom* replaceDeterministicRandom(DeterministicRandom* random) {
    DeterministicRandom* before = deterministicRandom();
    current = random;
    return before;
}

void setThreadLocalDeterministicRandomSeed(std::uint64_t seed) {
    *deterministicRandom() = DeterministicRandom(seed);
}

void seedUnusedDeterministicRandom() {
    if (!current)
        setThreadLocalDeterministicRandomSeed(nondeterministicRandom()->randomUInt64());
}

DeterministicRandom* nondeterministicRandom() {
    thread_local DeterministicRandom random([] {
        std::random_device device; // nondeterminism: this generator must not repeat
        return std::uint64_t{device()} << 32 | device();
    }());
    return &random;
}

} // namespace flow
