#pragma once
// The message of a reply: an object with the file identifier of the reply's type, and these members:
//
//     1 byte: 0 an error, 1 a value, 2 the error of a process that has no such endpoint
//     the value, or 2 bytes of error code
//
// For an error, the file identifier is kErrorReply. Only net/rpc uses this file.

#include "flow/core/error_or.h"
#include "flow/memory/object.h"

namespace flow::net {

constexpr FileIdentifier kErrorReply = 0x4D525245;

enum class ReplyKind : std::uint8_t { Error, Value, UnknownEndpoint };

inline void writeErrorReply(ObjectWriter& writer, Error error, bool isUnknownEndpoint) {
    writer.serialize(kErrorReply, isUnknownEndpoint ? ReplyKind::UnknownEndpoint : ReplyKind::Error, error);
}
template <class T>
void writeReply(ObjectWriter& writer, T const& value) {
    writer.serialize(FileIdentifierFor<T>::value, ReplyKind::Value, value);
}

/// Throws serialization_failed for wrong bytes. Sets `isUnknown` if the other process has no such endpoint.
template <class T>
ErrorOr<T> readReply(ObjectReader& reader, bool& isUnknown) {
    auto identifier = reader.readNumber<FileIdentifier>();
    ErrorOr<T> result;
    reader.readRecord([&] {
        auto kind = reader.readNumber<std::uint8_t>();
        isUnknown = kind == static_cast<std::uint8_t>(ReplyKind::UnknownEndpoint);
        if (identifier == kErrorReply) {
            Error error;
            reader >> error;
            if (!error.isValid())
                throw serialization_failed();
            result = ErrorOr<T>::failed(error);
        } else if (identifier == FileIdentifierFor<T>::value && kind == static_cast<std::uint8_t>(ReplyKind::Value)) {
            T value{};
            reader >> value;
            result = std::move(value);
        } else {
            throw serialization_failed();
        }
    });
    return result;
}

} // namespace flow::net
