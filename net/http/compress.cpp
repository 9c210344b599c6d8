#include "net/http/compress.h"

#include "flow/coro/coroutine.h"
#include "net/http/detail/accept_encoding.h"
#include "net/http/detail/content_types.h"
#include "net/http/detail/gzip.h"
#include "net/http/detail/service.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace flow::net::http {
namespace {

constexpr int kAtATime = 32 * 1024; // bytes

struct Compressing {
    Compressing(int level, Body plain)
        : body(std::move(plain)), isLive(!body.size().has_value()), gzip(level, body.size()) {}

    Body body;
    bool isLive; // a body of unknown size: each piece is flushed
    http::detail::GzipStream gzip;
    Bytes piece; // the rest of the last piece
    bool hasEnded = false;
};

Future<Bytes> nextCompressed(std::shared_ptr<Compressing> work) {
    while (!work->hasEnded) {
        if (work->piece.empty())
            work->piece = co_await work->body.read();
        StringRef some = work->piece.substr(0, std::min(work->piece.size(), kAtATime));
        work->hasEnded = some.empty();
        Bytes out =
            work->hasEnded ? work->gzip.end() : work->gzip.add(some, work->isLive && some.size() == work->piece.size());
        work->piece.contents() = work->piece.substr(some.size());
        if (!out.empty())
            co_return out;
    }
    co_return Bytes();
}

bool mayBeCompressed(Response const& response, CompressOptions const& options) {
    constexpr int kPartial = 206;
    return !response.body.isEmpty() && response.status >= 200 && response.status != kPartial &&
           response.body.size().value_or(options.leastBytes) >= options.leastBytes &&
           !response.headers.has("Content-Encoding") && !response.headers.hasToken("Cache-Control", "no-transform") &&
           options.isCompressible(response.headers.get("Content-Type"));
}

void compress(Response& response, int level) {
    response.headers.set("Content-Encoding", "gzip");
    response.headers.remove("Content-Length");
    response.headers.remove("Accept-Ranges"); // ranges would count uncompressed bytes
    if (std::string_view tag = response.headers.get("ETag"); tag.starts_with('"'))
        response.headers.set("ETag", "W/" + std::string(tag));
    auto work = std::make_shared<Compressing>(level, std::move(response.body));
    response.body = Body::stream([work] { return nextCompressed(work); });
}

Future<Response> answerCompressed(std::shared_ptr<HandlerToTheEnd const> handler, CompressOptions options,
                                  Request request, Event* ending) {
    bool takesGzip = http::detail::acceptsGzip(request.headers.get("Accept-Encoding"));
    Response response = co_await (*handler)(std::move(request), ending);
    constexpr int kNotModified = 304;
    bool isCandidate = mayBeCompressed(response, options);
    if ((isCandidate || response.status == kNotModified) && !response.headers.hasToken("Vary", "Accept-Encoding"))
        response.headers.add("Vary", "Accept-Encoding");
    if (isCandidate && takesGzip)
        compress(response, options.level);
    co_return response;
}

} // namespace

HandlerToTheEnd compressed(HandlerToTheEnd handler, CompressOptions options) {
    if (!canCompress())
        throw unsupported_operation().withSentence("http::compressed(): this build of Millrace has no zlib");
    if (options.level < 1 || options.level > 9)
        throw wrongOption("CompressOptions", "level", std::to_string(options.level), "it must be from 1 to 9");
    if (!options.isCompressible)
        options.isCompressible = http::detail::isCompressibleType;
    auto shared = std::make_shared<HandlerToTheEnd const>(std::move(handler));
    return [shared, options](Request request, Event* ending) {
        return answerCompressed(shared, options, std::move(request), ending);
    };
}

Handler compressed(Handler handler, CompressOptions options) {
    HandlerToTheEnd told = compressed(http::detail::toTheEnd(std::move(handler)), options);
    return [told = std::move(told)](Request request) { return told(std::move(request), nullptr); };
}

} // namespace flow::net::http
