#include "net/http/body.h"

#include "flow/coro/coroutine.h"

namespace flow::net::http {
namespace {

class FunctionSource final : public BodySource {
public:
    explicit FunctionSource(NextPiece next) : next_(std::move(next)) {}
    Future<Bytes> next() override {
        try {
            return next_();
        } catch (...) {
            return currentError();
        }
    }

private:
    NextPiece next_;
};

Future<std::string> readAll(Bytes first, Reference<BodySource> source, std::size_t limit) {
    std::string all = first.toString();
    for (;;) {
        if (all.size() > limit)
            throw value_too_large().withSentence("the body has more bytes than Body::text() may read");
        if (!source)
            co_return all;
        Bytes piece = co_await source->next();
        if (piece.empty())
            co_return all;
        all += piece.toStringView();
    }
}

} // namespace

Body Body::stream(NextPiece next, std::optional<std::uint64_t> size) {
    return from(makeReference<FunctionSource>(std::move(next)), size);
}

Body Body::from(Reference<BodySource> source, std::optional<std::uint64_t> size) {
    Body body;
    body.source_ = std::move(source);
    body.size_ = size;
    return body;
}

Bytes Body::takeBytes() {
    if (!source_)
        size_ = 0;
    return std::exchange(bytes_, Bytes());
}

Future<Bytes> Body::read() {
    if (!source_)
        return takeBytes();
    return source_->next();
}

Future<std::string> Body::text(std::size_t limit) {
    if (size_.value_or(0) > limit)
        return value_too_large().withSentence("the body has more bytes than Body::text() may read");
    return readAll(takeBytes(), source_, limit);
}

Headers const& Body::trailers() const {
    static Headers const none;
    return source_ ? source_->trailers : none;
}

} // namespace flow::net::http
