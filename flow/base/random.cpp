#include "flow/base/random.h"

#include <random>

namespace flow {

std::uint32_t DeterministicRandom::randomSkewedUInt32(std::uint32_t begin, std::uint32_t end) {
    FLOW_ASSERT(1 <= begin && begin < end, "randomSkewedUInt32 needs 1 <= begin < end");
    // A power of two first, then a number that begins with it; what falls outside is drawn again.
    int low = std::bit_width(begin) - 1, high = std::bit_width(end - 1);
    for (;;) {
        std::int64_t power = std::int64_t{1} << randomInt(low, high);
        std::int64_t number = randomInt64(power, 2 * power);
        if (number >= begin && number < end)
            return static_cast<std::uint32_t>(number);
    }
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
    thread_local DeterministicRandom random(1);
    return &random;
}

void setThreadLocalDeterministicRandomSeed(std::uint64_t seed) {
    *deterministicRandom() = DeterministicRandom(seed);
}

DeterministicRandom* nondeterministicRandom() {
    thread_local DeterministicRandom random([] {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }());
    return &random;
}

} // namespace flow
