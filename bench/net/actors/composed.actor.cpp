// The composed benchmark in the actor language; bench/net/composed.h has the same as coroutines.

#include "bench/net/composed_loop.h"
#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace MILLRACE_BACKEND_NAMESPACE {

using namespace bench::composed;
using namespace flow;

ACTOR template <class Stream>
Future<std::size_t> readAll(Stream* from, std::size_t size) {
    state std::size_t got = 0;
    while (got != size) {
        std::size_t some = wait(from->readSome(std::span(room).first(size - got)));
        got += some;
    }
    return got;
}

ACTOR template <class Stream>
Future<std::size_t> oneRequest(Stream* with, std::size_t reads) {
    state std::size_t got = 0;
    state std::size_t i = 0;
    for (; i < reads; ++i) {
        std::size_t some = wait(with->readSome(std::span(room)));
        got += some;
    }
    return got;
}

ACTOR template <class Stream>
Future<std::size_t> requests(Stream* with) {
    state std::size_t got = 0;
    state std::size_t i = 0;
    for (; i < kRequests; ++i) {
        std::size_t answer = wait(oneRequest(with, kRequest));
        got += answer;
    }
    return got;
}

template <class Stream, int Level>
Future<std::size_t> begin(Stream& stream) {
    if constexpr (Level == 4)
        return requests(&stream);
    else if constexpr (Level == 2)
        return readAll(&stream, readsOf(2) * Socket::kChunk);
    else
        return oneRequest(&stream, readsOf(Level));
}
template <class Stream, int Level>
using ActorOperation = FutureOperation<Stream, Level, begin<Stream, Level>>;

static const bench::PeerStyle style(bench::styleOf(MILLRACE_NAME(MILLRACE_BACKEND_NAMESPACE)),
                                    {{"composed-socket", performComposed<ActorOperation, Socket>},
                                     {"composed-tls", performComposed<ActorOperation, Tls>},
                                     {"composed-loop", performOnLoop<ActorOperation>}});

} // namespace MILLRACE_BACKEND_NAMESPACE
