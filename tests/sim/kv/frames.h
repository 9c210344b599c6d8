#pragma once
// Frames: values over a connection, each behind its length and a checksum.
//
//     Frames frames(connection);
//     co_await frames.send(request);
//     Optional<Reply> reply = co_await frames.next<Reply>();         // nothing: the other side has ended

#include "flow/coro/coroutine.h"
#include "net/examples/kv/message.h"
#include "net/transport.h"

#include <string>
#include <utility>

namespace kv {

class Frames {
public:
    explicit Frames(Reference<net::Connection> connection) : connection_(std::move(connection)) {}

    /// In two writes; the other side may read their bytes one by one or together.
    template <class T>
    Future<Void> send(T value) {
        std::string sealed = seal(value);
        BinaryWriter head(Unversioned());
        head << static_cast<std::uint32_t>(sealed.size());
        co_await connection_->write(std::string(static_cast<char const*>(head.getData()), kHeadBytes));
        co_await connection_->write(sealed);
    }

    /// Fails if the frame is damaged: the start of the next one is unknown then.
    template <class T>
    Future<Optional<T>> next() {
        for (;;) {
            if (received_.size() >= kHeadBytes) {
                std::uint32_t length;
                BinaryReader head(StringRef(received_), Unversioned());
                head >> length;
                if (length > kMostBytes)
                    throw connection_failed();
                if (received_.size() >= kHeadBytes + length) {
                    std::string sealed = received_.substr(kHeadBytes, length);
                    received_.erase(0, kHeadBytes + length);
                    Optional<T> value = unseal<T>(sealed);
                    if (!value.present())
                        throw connection_failed();
                    co_return value;
                }
            }
            net::Bytes more = co_await connection_->read();
            if (more.empty())
                co_return Optional<T>();
            received_ += more.toStringView();
        }
    }

private:
    static constexpr std::size_t kHeadBytes = 4;
    static constexpr std::uint32_t kMostBytes = 1 << 20;

    Reference<net::Connection> connection_;
    std::string received_;
};

} // namespace kv
