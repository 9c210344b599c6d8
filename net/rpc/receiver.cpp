#include "net/rpc/detail/receiver.h"

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
    if (++slot.generation == 0) // a number for a reply must not be 0
        slot.generation = 1;
    ++used_;
    return std::uint64_t{slot.generation} << 32 | index;
}

std::string rpc::whyTaken(std::string_view name, std::string_view other) {
    std::string quoted = '"' + std::string(name) + '"';
    if (name == other)
        return quoted + " is served already by this process";
    return quoted + " and \"" + std::string(other) + "\" have the same hash: give one of them another name";
}

UID EndpointTable::add(MessageReceiver& receiver) {
    std::uint64_t first = 0;
    while (first == 0 || first >= kNamed)
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

std::string const* EndpointTable::addNamed(MessageReceiver& receiver, std::uint64_t hash, std::string_view name) {
    auto [place, isNew] = named_.try_emplace(hash, std::string(name), &receiver);
    used_ += isNew ? 1 : 0;
    return isNew ? nullptr : &place->second.name;
}

void EndpointTable::remove(UID token) {
    if (!find(token))
        return;
    --used_;
    if (token.first() == kWellKnown) {
        wellKnown_[token.second()] = nullptr;
        return;
    }
    if (token.first() == kNamed) {
        named_.erase(token.second());
        return;
    }
    auto index = static_cast<std::uint32_t>(token.second());
    slots_[index].receiver = nullptr;
    slots_[index].nextFree = free_;
    free_ = index;
}

} // namespace flow::net
