#pragma once
// The operations of the composed benchmark: the same four levels in the callback style, as coroutines and as fibers;
// bench/actors/ has the actors. Each is written as a user would write it over net::Connection.
//
//     CallbackOperation<Socket, 4> operation;
//     operation.start(socket);
//     workQueue.runAll();
//     operation.hasRead(readsOf(4) * Socket::kChunk);

#include "bench/net/mock_stream.h"
#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/detail/composed_operation.h"

namespace bench::composed {

using flow::Completion;
using flow::Error;
using flow::Future;

inline char room[kRead * Socket::kChunk];

// Callbacks.

/// Reads so many bytes, piece by piece: level 2.
template <class Stream>
class Read : public flow::ComposedOperation {
public:
    void start(Stream& from, std::size_t bytes, Completion<std::size_t> end) {
        from_ = &from;
        size_ = bytes;
        got_ = 0;
        end_ = end;
        readOn();
    }

private:
    void readOn() { waitFor<&Read::onSome>(from_->readSome(std::span(room).first(size_ - got_))); }
    void onSome(Error error, std::size_t bytes) {
        got_ += bytes;
        if (error.isValid() || got_ == size_)
            return end_(error, got_);
        readOn();
    }

    Stream* from_ = nullptr;
    std::size_t size_ = 0;
    std::size_t got_ = 0;
    Completion<std::size_t> end_;
};

/// So many reads, one after the other: levels 1 and 3.
template <class Stream>
class Request : public flow::ComposedOperation {
public:
    void start(Stream& with, std::size_t reads, Completion<std::size_t> end) {
        with_ = &with;
        left_ = reads;
        got_ = 0;
        end_ = end;
        readOn();
    }

private:
    void readOn() { waitFor<&Request::onSome>(with_->readSome(std::span(room))); }
    void onSome(Error error, std::size_t bytes) {
        got_ += bytes;
        if (error.isValid() || --left_ == 0)
            return end_(error, got_);
        readOn();
    }

    Stream* with_ = nullptr;
    std::size_t left_ = 0;
    std::size_t got_ = 0;
    Completion<std::size_t> end_;
};

/// Requests one after the other: level 4.
template <class Stream>
class Session {
public:
    void start(Stream& with, Completion<std::size_t> end) {
        with_ = &with;
        end_ = end;
        left_ = kRequests;
        got_ = 0;
        request();
    }

private:
    void request() {
        --left_;
        request_.start(*with_, kRequest, Completion<std::size_t>::to<&Session::onAnswer>(*this));
    }
    void onAnswer(Error error, std::size_t bytes) {
        got_ += bytes;
        if (error.isValid() || left_ == 0)
            return end_(error, got_);
        request();
    }

    Stream* with_ = nullptr;
    std::size_t left_ = 0;
    std::size_t got_ = 0;
    Request<Stream> request_;
    Completion<std::size_t> end_;
};

template <class Stream, int Level>
class CallbackOperation {
public:
    void start(Stream& stream) {
        bytes_ = 0;
        auto end = Completion<std::size_t>::to<&CallbackOperation::onEnd>(*this);
        if constexpr (Level == 4)
            operation_.start(stream, end);
        else
            operation_.start(stream, Level == 2 ? readsOf(2) * Socket::kChunk : readsOf(Level), end);
    }
    bool hasRead(std::size_t bytes) const { return bytes_ == bytes && !error_.isValid(); }
    Error error() const { return error_; }

private:
    void onEnd(Error error, std::size_t bytes) {
        error_ = error;
        bytes_ = bytes;
    }

    using Operation = std::conditional_t<Level == 2, Read<Stream>, Request<Stream>>;
    std::conditional_t<Level == 4, Session<Stream>, Operation> operation_;
    Error error_;
    std::size_t bytes_ = 0;
};

// Coroutines.

template <class Stream>
Future<std::size_t> read(Stream& from, std::size_t size, flow::Propagate = {}) {
    std::size_t got = 0;
    while (got != size) {
        std::size_t some = co_await from.readSome(std::span(room).first(size - got));
        got += some;
    }
    co_return got;
}

template <class Stream>
Future<std::size_t> request(Stream& with, std::size_t reads, flow::Propagate = {}) {
    std::size_t got = 0;
    for (std::size_t i = 0; i < reads; ++i) {
        std::size_t some = co_await with.readSome(std::span(room));
        got += some;
    }
    co_return got;
}

template <class Stream>
Future<std::size_t> session(Stream& with, flow::Propagate = {}) {
    std::size_t got = 0;
    for (std::size_t i = 0; i < kRequests; ++i) {
        std::size_t answer = co_await request(with, kRequest);
        got += answer;
    }
    co_return got;
}

/// What a piece of work begins, and what gives a future.
template <class Stream, int Level, Future<std::size_t> (*begin)(Stream&)>
class FutureOperation {
public:
    void start(Stream& stream) {
        stream_ = &stream;
        future_ = {};
        start_.post();
    }
    bool hasRead(std::size_t bytes) const { return future_.isReady() && !future_.isError() && future_.get() == bytes; }
    Error error() const { return future_.isReady() && future_.isError() ? future_.getError() : Error(); }

private:
    struct Begin : Start {
        explicit Begin(FutureOperation& o)
            : Start([](Start& self) {
                  FutureOperation& begun = static_cast<Begin&>(self).operation;
                  begun.future_ = begin(*begun.stream_);
              }),
              operation(o) {}
        FutureOperation& operation;
    };

    Begin start_{*this};
    Stream* stream_ = nullptr;
    Future<std::size_t> future_;
};

template <class Stream, int Level>
Future<std::size_t> beginCoroutine(Stream& stream) {
    if constexpr (Level == 4)
        return session(stream);
    else if constexpr (Level == 2)
        return read(stream, readsOf(2) * Socket::kChunk);
    else
        return request(stream, readsOf(Level));
}
template <class Stream, int Level>
using CoroutineOperation = FutureOperation<Stream, Level, beginCoroutine<Stream, Level>>;

// Measuring.

/// One operation a pass, until the queue is empty. Before that, some run at once, and their results are checked.
template <template <class, int> class Operation, class Stream, int Level>
void performLevel(Run* run) {
    constexpr std::size_t kBytes = readsOf(Level) * Socket::kChunk;
    Stream stream;
    Operation<Stream, Level> several[3];
    for (auto& each : several)
        each.start(stream);
    workQueue.runAll();
    for (auto& each : several)
        run->expect(each.hasRead(kBytes));
    auto& one = several[0];
    std::uint64_t work = 0;
    while (run->next()) {
        one.start(stream);
        work = workQueue.runAll();
        run->expect(one.hasRead(kBytes));
    }
    run->setWork(work);
}

/// The level is N of the benchmark.
template <template <class, int> class Operation, class Stream>
void performComposed(Run* run) {
    switch (run->size()) {
    case 1:
        return performLevel<Operation, Stream, 1>(run);
    case 2:
        return performLevel<Operation, Stream, 2>(run);
    case 3:
        return performLevel<Operation, Stream, 3>(run);
    default:
        return performLevel<Operation, Stream, 4>(run);
    }
}

} // namespace bench::composed
