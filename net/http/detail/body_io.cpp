#include "net/http/detail/body_io.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/syntax.h"

#include <algorithm>

namespace flow::net::http::detail {
namespace {

/// The chunk lines of a body may have 16 bytes for each chunk, 2 for each byte of data, and this many more in total.
constexpr std::uint64_t kMostExcess = 16384;

/// Returns the size in a chunk line; nothing if the line is wrong.
std::optional<std::uint64_t> parseChunkLine(std::string_view line) {
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; digits < line.size() && hexDigit(line[digits]) >= 0; ++digits)
        size = size << 4 | static_cast<std::uint64_t>(hexDigit(line[digits]));
    std::string_view extension = line.substr(digits);
    if (digits == 0 || digits > 15 || (!extension.empty() && extension[0] != ';') || !isAllOf(kValueChar, extension))
        return {};
    return size;
}

} // namespace

ReceivedBody::ReceivedBody(Reference<Connection> connection, Framing const& framing, BodyLimits const& limits)
    : connection_(std::move(connection)), limits_(limits), left_(framing.length) {
    switch (framing.kind) {
    case Framing::Kind::None:
        state_ = State::End;
        break;
    case Framing::Kind::Length:
        state_ = State::Data;
        break;
    case Framing::Kind::Chunked:
        state_ = State::Line;
        break;
    case Framing::Kind::UntilEnd:
        state_ = State::UntilEnd;
        left_ = kStep;
        break;
    }
    isChunked_ = framing.kind == Framing::Kind::Chunked;
}

void ReceivedBody::detach() {
    connection_ = {};
    detached_.send(Void());
}

void ReceivedBody::fail(Error error, int status, char const* reason) {
    refusal_ = {status, reason};
    throw error.withSentence(std::string("the body: ") + reason);
}

void ReceivedBody::takeLine(Bytes const& line) {
    std::optional<std::uint64_t> size = parseChunkLine(line.toStringView().substr(0, std::size_t(line.size()) - 2));
    if (!size)
        fail(serialization_failed(), 400, "the line before a chunk is wrong");
    excess_ += static_cast<std::uint64_t>(line.size()) + 2;
    excess_ -= std::min(excess_, 16 + 2 * *size);
    if (excess_ > kMostExcess)
        fail(serialization_failed(), 400, "the chunks are too small for their lines");
    if (*size > limits_.bytes || received_ > limits_.bytes - *size)
        fail(value_too_large(), 413, "it is too long");
    left_ = *size;
    state_ = left_ == 0 ? State::Trailers : State::Data;
}

void ReceivedBody::takeTrailer(Bytes const& line) {
    if (line.size() != 2) {
        trailerText_ += line.toStringView();
        if (trailerText_.size() > limits_.trailerBytes)
            fail(value_too_large(), 431, "the trailers are too long");
        return;
    }
    if (Refusal refusal = parseTrailers(StringRef(trailerText_), limits_.trailerFields, trailers))
        fail(serialization_failed(), refusal.status, refusal.reason);
    state_ = State::End;
}

void ReceivedBody::takeData(Bytes const& piece) {
    if (piece.empty() && state_ == State::Data)
        throw connection_cut_off();
    received_ += static_cast<std::uint64_t>(piece.size());
    if (received_ > limits_.bytes)
        fail(value_too_large(), 413, "it is too long");
    if (received_ >= stepEnd_) {
        stepEnd_ = received_ + kStep;
        waited_ = 0;
    }
    if (piece.empty()) {
        state_ = State::End;
    } else if (state_ == State::Data) {
        left_ -= static_cast<std::uint64_t>(piece.size());
        if (left_ == 0)
            state_ = isChunked_ ? State::DataEnd : State::End;
    }
}

Future<Bytes> ReceivedBody::next() {
    if (state_ == State::End)
        return Bytes();
    return next(Reference<ReceivedBody>::addRef(this));
}

Future<Bytes> ReceivedBody::next(Reference<ReceivedBody> self) {
    for (;;) {
        Reference<Connection> connection = self->connection_;
        if (self->state_ == State::End)
            co_return Bytes();
        if (!connection)
            throw operation_obsolete().withSentence("the body was read after its exchange had ended");
        if (self->refusal_)
            throw operation_failed().withSentence("the body was read after an error");
        if (!self->sendFirst_.empty()) {
            Bytes first = StringRef(std::exchange(self->sendFirst_, {}));
            (void)connection->write(std::move(first));
        }
        State state = self->state_;
        Bytes got;
        std::size_t winner = 0;
        Future<Void> detached = self->detached_.getFuture();
        double begin = Loop::current().now(), deadline = begin + self->limits_.seconds - self->waited_;
        try {
            if (state == State::Line || state == State::Trailers) {
                auto most = static_cast<std::uint32_t>(self->limits_.trailerBytes);
                ReadUntil line = connection->readUntil("\r\n"_sr, most);
                auto first = co_await race(detached, line, delayUntil(deadline));
                winner = first.index();
                if (winner == 1)
                    got = std::get<1>(std::move(first));
            } else {
                auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(self->left_, kStep));
                Read piece = state == State::DataEnd ? connection->readExactly(2) : connection->read(most);
                auto first = co_await race(detached, piece, delayUntil(deadline));
                winner = first.index();
                if (winner == 1)
                    got = std::get<1>(std::move(first));
            }
        } catch (Error& error) {
            if (error == end_of_stream())
                throw connection_cut_off();
            if (error == value_too_large())
                self->fail(error, 431, "a line is too long");
            throw;
        }
        self->waited_ += Loop::current().now() - begin;
        if (winner == 0)
            throw operation_obsolete().withSentence("the body was read after its exchange had ended");
        if (winner == 2)
            self->fail(timed_out(), 408, "it comes too slowly");
        switch (state) {
        case State::Line:
            self->takeLine(got);
            break;
        case State::Trailers:
            self->takeTrailer(got);
            break;
        case State::DataEnd:
            if (got != "\r\n"_sr)
                self->fail(serialization_failed(), 400, "a chunk does not end in CRLF");
            self->state_ = State::Line;
            break;
        default:
            self->takeData(got);
            co_return got;
        }
    }
}

Future<Void> sendBytes(Connection* connection, Bytes before, Bytes bytes, Seconds seconds) {
    int at = 0;
    do {
        Bytes pieces[] = {std::move(before), Bytes(bytes.substr(at, kStep), bytes.arena())};
        at += pieces[1].size();
        Drain written = connection->write(std::span<Bytes>(pieces));
        auto first = co_await race(written, delay(seconds));
        if (first.index() == 1)
            throw connection_timed_out().withSentence("the other side does not take the bytes");
    } while (at < bytes.size());
}

Future<Void> sendBody(Connection* connection, std::string before, Body* body, Framed framed, Headers const* trailers,
                      Seconds seconds, std::uint64_t* sent, Error* ofBody) {
    bool const isChunked = framed == Framed::Chunked;
    std::optional<std::uint64_t> size = body->size();
    std::uint64_t total = 0;
    for (;;) {
        bool mayBeFile = !isChunked && body->source();
        while (auto taken = mayBeFile ? body->source()->trySendTo(*connection, before) : std::nullopt) {
            std::size_t ofHead = std::min(*taken, before.size());
            before.erase(0, ofHead);
            total += *taken - ofHead;
            *sent += *taken - ofHead;
            auto first = co_await race(connection->writable(), delay(seconds));
            if (first.index() == 1)
                throw connection_timed_out().withSentence("the other side does not take the bytes");
        }
        Bytes piece;
        try {
            Future<Bytes> reading = body->read();
            if (!reading.isReady() && !before.empty()) {
                (void)connection->write(StringRef(before));
                before.clear();
            }
            piece = co_await std::move(reading);
            total += static_cast<std::uint64_t>(piece.size());
            if (size && (total > *size || (piece.empty() && total != *size)))
                throw operation_failed().withSentence("a body has not the size that it has promised");
        } catch (...) {
            if (ofBody)
                *ofBody = currentError();
            throw;
        }
        if (piece.empty())
            break;
        *sent += static_cast<std::uint64_t>(piece.size());
        if (isChunked)
            before += format("%x\r\n", static_cast<unsigned>(piece.size()));
        Bytes first = StringRef(before);
        Future<Void> sending = sendBytes(connection, std::move(first), std::move(piece), seconds);
        co_await std::move(sending);
        before = isChunked ? "\r\n" : "";
    }
    if (isChunked) {
        before += "0\r\n";
        before += trailers->text();
        before += "\r\n";
    }
    if (before.empty())
        co_return;
    Bytes last = StringRef(before);
    Future<Void> sending = sendBytes(connection, std::move(last), Bytes(), seconds);
    co_await std::move(sending);
}

} // namespace flow::net::http::detail
