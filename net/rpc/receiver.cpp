#include "net/rpc/receiver.h"

#include "flow/base/random.h"

namespace flow::net {

std::uint64_t EndpointTable::put(MessageReceiver& receiver, std::uint64_t first) {
    if (free_ == kNone) {
        free_ = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back({nullptr, 0, 0, kNone});
    }
    std::uint32_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.nextFree;
    slot.receiver = &receiver;
    slot.first = first;
    if (++slot.generation == 0) // so that no number of a place is 0
        slot.generation = 1;
    ++used_;
    return std::uint64_t{slot.generation} << 32 | index;
}

UID EndpointTable::add(MessageReceiver& receiver) {
    std::uint64_t first = 0;
    while (first == 0 || first == kWellKnown)
        first = deterministicRandom()->randomUInt64();
    return {first, put(receiver, first)};
}

bool EndpointTable::addWellKnown(MessageReceiver& receiver, int number) {
    if (number < 0 || number > kLargestNumber)
        return false;
    auto index = static_cast<std::size_t>(number);
    if (index >= wellKnown_.size())
        wellKnown_.resize(index + 1);
    if (wellKnown_[index])
        return false;
    wellKnown_[index] = &receiver;
    ++used_;
    return true;
}

void EndpointTable::remove(UID token) {
    if (!find(token))
        return;
    --used_;
    if (token.first() == kWellKnown) {
        wellKnown_[token.second()] = nullptr;
        return;
    }
    auto index = static_cast<std::uint32_t>(token.second());
    slots_[index].receiver = nullptr;
    slots_[index].nextFree = free_;
    free_ = index;
}

} // namespace flow::net
