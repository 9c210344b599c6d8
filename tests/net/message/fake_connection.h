#pragma once
// FakeConnection: gives the bytes that a test puts in, as many at a time as it says, and takes so many.

#include "net/connection.h"

#include <algorithm>
#include <string>

namespace flow::test {

class FakeConnection final : public net::Connection {
public:
    ~FakeConnection() override { failWaiters(); }
    std::string incoming;          // what is still to be read
    std::size_t atATime = 1 << 20; // bytes that a read gives at most
    std::string written;
    std::size_t takes = 1 << 30; // bytes that the machine still takes

    std::size_t tryWrite(std::span<StringRef const> pieces) noexcept override {
        std::size_t taken = 0;
        for (StringRef each : pieces) {
            std::size_t some = std::min<std::size_t>(static_cast<std::size_t>(each.size()), takes);
            written.append(each.toStringView().substr(0, some));
            takes -= some;
            taken += some;
        }
        return taken;
    }
    void shutdownWrite() override {}
    void close() override {}
    void abort() override {}
    net::Address localAddress() const override { return {}; }
    net::Address peerAddress() const override { return {}; }

private:
    bool fill(std::size_t wanted) noexcept override {
        std::size_t some = std::min({wanted, incoming.size(), atATime});
        received_.append(StringRef(std::string_view(incoming).substr(0, some)));
        incoming.erase(0, some);
        return some != 0;
    }
    void send(std::span<net::Bytes>) override {}
};

} // namespace flow::test
