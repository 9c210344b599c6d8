#include "net/http/detail/http2_session.h"

#include "flow/base/format.h"
#include "net/http/detail/syntax.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace flow::net::http::detail {
namespace {

constexpr double kNoHead = std::numeric_limits<double>::infinity();

std::string_view textOf(std::uint8_t const* bytes, std::size_t size) {
    return {reinterpret_cast<char const*>(bytes), size};
}
std::uint8_t* unsignedBytes(std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); // nghttp2 copies the bytes
}

/// Returns the error of a stream that ended before its message was complete.
Error errorOfCode(std::uint32_t code) {
    if (code == NGHTTP2_REFUSED_STREAM)
        return retry().withSentence("the server has not processed the request: its connection is ending, or busy");
    return connection_reset().withSentence(
        format("the other side has reset the HTTP/2 stream: %s", nghttp2_http2_strerror(code)));
}

} // namespace

/// The functions that nghttp2 calls. They must not throw.
struct Http2Session::Callbacks {
    static Http2Session& session(void* self) { return *static_cast<Http2Session*>(self); }
    static Http2Stream* streamOf(nghttp2_session* session, std::int32_t id) {
        return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int beginFrame(nghttp2_session*, nghttp2_frame_hd const* head, void* user) {
        if (session(user).isServer_ && head->type == NGHTTP2_HEADERS)
            session(user).noteId(head->stream_id);
        session(user).headSince_ = head->type == NGHTTP2_HEADERS ? now() : kNoHead;
        return 0;
    }

    static int beginHead(nghttp2_session* nghttp2, nghttp2_frame const* frame, void* user) {
        Http2Session& self = session(user);
        self.lines_.clear();
        self.authority_.clear();
        self.host_.clear();
        self.cookie_.clear();
        self.headBytes_ = self.headFields_ = 0;
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            Reference<Http2Stream> stream = self.addStream(frame->hd.stream_id);
            nghttp2_session_set_stream_user_data(nghttp2, stream->id, stream.getPtr());
        }
        return 0;
    }

    static int field(nghttp2_session* nghttp2, nghttp2_frame const* frame, std::uint8_t const* name,
                     std::size_t nameSize, std::uint8_t const* value, std::size_t valueSize, std::uint8_t, void* user) {
        Http2Session& self = session(user);
        Http2Stream* stream = streamOf(nghttp2, frame->hd.stream_id);
        if (!stream)
            return 0;
        self.headBytes_ += nameSize + valueSize + 32;
        if (++self.headFields_ > self.limits_.headFields || self.headBytes_ > self.limits_.headBytes)
            stream->isTooLarge = true;
        if (!stream->isTooLarge)
            self.noteField(*stream, textOf(name, nameSize), textOf(value, valueSize));
        return 0;
    }

    static int frame(nghttp2_session* nghttp2, nghttp2_frame const* frame, void* user) {
        Http2Session& self = session(user);
        Http2Stream* stream = streamOf(nghttp2, frame->hd.stream_id);
        bool isEnd = frame->hd.flags & NGHTTP2_FLAG_END_STREAM, isAnswer = frame->hd.flags & NGHTTP2_FLAG_ACK;
        bool carriesNothing = false;
        switch (frame->hd.type) {
        case NGHTTP2_HEADERS:
            self.headSince_ = kNoHead;
            if (stream)
                self.noteHead(*stream, isEnd);
            break;
        case NGHTTP2_DATA:
            carriesNothing = frame->hd.length == 0 && !isEnd;
            if (stream && isEnd) {
                stream->hasEnded = true;
                stream->changed.trigger();
            }
            break;
        case NGHTTP2_PING:
            if (isAnswer)
                self.pinged_.trigger();
            carriesNothing = !isAnswer;
            break;
        case NGHTTP2_SETTINGS:
        case NGHTTP2_PRIORITY:
            carriesNothing = !isAnswer;
            break;
        case NGHTTP2_RST_STREAM:
            self.noteReset();
            break;
        default:
            break;
        }
        if (carriesNothing && !self.idle_.tryTake())
            self.isOverrun_ = true;
        return 0;
    }

    static int data(nghttp2_session* nghttp2, std::uint8_t, std::int32_t id, std::uint8_t const* bytes,
                    std::size_t size, void* user) {
        Http2Session& self = session(user);
        Http2Stream* stream = streamOf(nghttp2, id);
        if (stream && !stream->isUnread) {
            stream->bodyBytes += size;
            stream->changed.trigger();
            if (stream->bodyBytes <= self.limits_.bodyBytes) {
                stream->received.append(textOf(bytes, size));
                return 0;
            }
            stream->error = value_too_large().withSentence(
                format("the body has more than %llu bytes", static_cast<unsigned long long>(self.limits_.bodyBytes)));
            self.leaveUnread(*stream);
        }
        nghttp2_session_consume(nghttp2, id, size);
        return 0;
    }

    static int sent(nghttp2_session* nghttp2, nghttp2_frame const* frame, void* user) {
        Http2Session& self = session(user);
        bool isMessage = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        if (isMessage && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
            Http2Stream* stream = streamOf(nghttp2, frame->hd.stream_id);
            if (stream) {
                stream->hasSent = true;
                stream->changed.trigger();
            }
            // The answer is complete, so the rest of the request is not needed. From status 300 on, answer() resets the
            // stream later, because curl 7.88 loses such an answer if the reset comes with it.
            if (stream && self.isServer_ && !stream->hasEnded && stream->status < 300)
                nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
        }
        if (frame->hd.type == NGHTTP2_RST_STREAM) {
            std::uint32_t code = frame->rst_stream.error_code;
            if (code != NGHTTP2_NO_ERROR && code != NGHTTP2_INTERNAL_ERROR && code != NGHTTP2_CANCEL)
                self.noteReset(); // this side has reset the stream, since the other side broke a rule
        }
        return 0;
    }

    static int streamEnd(nghttp2_session* nghttp2, std::int32_t id, std::uint32_t code, void* user) {
        Http2Session& self = session(user);
        Http2Stream* stream = streamOf(nghttp2, id);
        if (!stream)
            return 0;
        nghttp2_session_consume_connection(nghttp2, stream->received.size());
        stream->session = nullptr;
        if (!stream->hasEnded && !stream->error.isValid())
            stream->error = errorOfCode(code);
        stream->changed.trigger();
        self.ended_.push_back(Reference<Http2Stream>::addRef(stream));
        return 0;
    }

    static ssize_t piece(nghttp2_session* nghttp2, std::int32_t id, std::uint8_t* to, std::size_t size,
                         std::uint32_t* flags, nghttp2_data_source* source, void*) {
        auto& stream = *static_cast<Http2Stream*>(source->ptr);
        if (stream.piece.empty() && !stream.isLast)
            return NGHTTP2_ERR_DEFERRED;
        size = std::min(size, static_cast<std::size_t>(stream.piece.size()));
        if (size != 0)
            std::memcpy(to, stream.piece.begin(), size);
        stream.piece.contents() = stream.piece.substr(static_cast<int>(size));
        stream.sentAt = now();
        stream.sentBytes += size;
        if (!stream.piece.empty())
            return static_cast<ssize_t>(size);
        stream.piece = Bytes();
        stream.changed.trigger();
        if (stream.isLast) {
            *flags |= NGHTTP2_DATA_FLAG_EOF;
            if (!stream.sentTrailers.empty()) {
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
                std::vector<nghttp2_nv> trailers;
                for (Headers::Field field : stream.sentTrailers)
                    trailers.push_back(pair(field.name, field.value));
                nghttp2_submit_trailer(nghttp2, id, trailers.data(), trailers.size());
            }
        }
        return static_cast<ssize_t>(size);
    }

    static nghttp2_nv pair(std::string_view name, std::string_view value) {
        return {unsignedBytes(name), unsignedBytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
    }
    static std::vector<nghttp2_nv> const& pairs(Fields const& fields) {
        thread_local std::vector<nghttp2_nv> all;
        all.clear();
        for (auto const& [name, value] : fields)
            all.push_back(pair(name, value));
        return all;
    }

    static nghttp2_session_callbacks* make() {
        nghttp2_session_callbacks* all = nullptr;
        if (nghttp2_session_callbacks_new(&all) != 0)
            throw std::bad_alloc();
        nghttp2_session_callbacks_set_on_begin_frame_callback(all, beginFrame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(all, beginHead);
        nghttp2_session_callbacks_set_on_header_callback(all, field);
        nghttp2_session_callbacks_set_on_frame_recv_callback(all, frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, data);
        nghttp2_session_callbacks_set_on_frame_send_callback(all, sent);
        nghttp2_session_callbacks_set_on_stream_close_callback(all, streamEnd);
        return all;
    }
};

Http2Session::Http2Session(Reference<Connection> connection, bool isServer, Http2Limits const& limits)
    : connection_(std::move(connection)), limits_(limits), idleSince_(now()), headSince_(kNoHead), isServer_(isServer),
      resets_(limits.resets), idle_(kMostIdle) {
    static nghttp2_session_callbacks* const callbacks = Callbacks::make();
    static nghttp2_option* const options = [] {
        nghttp2_option* made = nullptr;
        if (nghttp2_option_new(&made) != 0)
            throw std::bad_alloc();
        nghttp2_option_set_no_auto_window_update(made, 1);
        return made;
    }();
    int failed = isServer ? nghttp2_session_server_new2(&session_, callbacks, this, options)
                          : nghttp2_session_client_new2(&session_, callbacks, this, options);
    if (failed)
        throw std::bad_alloc();
    std::vector<nghttp2_settings_entry> settings = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, isServer ? limits.unreadWindow : limits.streamWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.headBytes)},
    };
    if (isServer)
        settings.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams});
    else
        settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    // A client may use the default window until it has read the settings.
    std::uint32_t window =
        isServer ? NGHTTP2_INITIAL_CONNECTION_WINDOW_SIZE + limits.streams * limits.unreadWindow : 1u << 30;
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(window));
}

Http2Session::~Http2Session() {
    nghttp2_session_del(session_);
}

void Http2Session::noteId(std::int32_t id) {
    if (id > lastId_) {
        if (id > lastId_ + 2)
            skippedIds_ = {lastId_ + 2, id - 2};
        lastId_ = id;
    } else if (id >= skippedIds_.first && id <= skippedIds_.second) {
        terminate(NGHTTP2_PROTOCOL_ERROR); // RFC 9113, 5.1.1: ids must grow; nghttp2 would accept this one
    }
}

void Http2Session::noteReset() {
    if (isServer_ && !resets_.tryTake())
        isOverrun_ = true;
}

void Http2Session::noteField(Http2Stream& stream, std::string_view name, std::string_view value) {
    if (name == ":method")
        stream.method = value;
    else if (name == ":path")
        stream.target = value;
    else if (name == ":authority")
        authority_ = value;
    else if (name == ":status")
        stream.status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0');
    else if (name == "host")
        host_ = value;
    else if (name == "cookie") // may be split into several fields (RFC 9113, 8.2.3)
        (cookie_ += cookie_.empty() ? "" : "; ") += value;
    else if (name[0] != ':')
        addLine(name, value);
    if (!stream.hasHead)
        stream.trace.note(name, lines_.size() - value.size() - 2, value.size());
}

void Http2Session::addLine(std::string_view name, std::string_view value) {
    (((lines_ += name) += ": ") += value) += "\r\n";
}

void Http2Session::noteHead(Http2Stream& stream, bool isEnd) {
    stream.hasEnded = isEnd;
    stream.changed.trigger();
    if (!isServer_ && stream.status < 200)
        return; // an interim response: another head follows
    if (authority_.empty())
        authority_ = host_;
    bool isRequest = isServer_ && !stream.hasHead;
    if (isRequest && stream.method == "CONNECT")
        stream.target = authority_;
    if (isRequest && ((!host_.empty() && host_ != authority_) || !isAllOf(kTargetChar, stream.target)))
        return reset(stream, NGHTTP2_PROTOCOL_ERROR);
    if (isRequest && !authority_.empty())
        addLine("host", authority_);
    if (!cookie_.empty())
        addLine("cookie", cookie_);
    (stream.hasHead ? stream.trailers : stream.headers) = Headers::ofCheckedLines(Bytes(StringRef(lines_)));
    if (isRequest)
        arrived_.push_back(Reference<Http2Stream>::addRef(&stream));
    stream.hasHead = true;
}

void Http2Session::addFields(Fields& to, Headers const& headers, std::optional<std::uint64_t> size,
                             std::string& length) {
    constexpr std::string_view kLeftOut[] = {"connection",        "host",   "keep-alive", "proxy-connection", "te",
                                             "transfer-encoding", "upgrade"};
    for (Headers::Field field : headers) {
        auto isField = [&](std::string_view name) { return isSameName(field.name, name); };
        if (!std::ranges::any_of(kLeftOut, isField) && !(size && isField("content-length")))
            to.emplace_back(field.name, field.value);
    }
    if (size)
        to.emplace_back("content-length", length = std::to_string(*size));
}

void Http2Session::sendContinue(Http2Stream& stream) {
    nghttp2_nv status = Callbacks::pair(":status", "100");
    nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id, nullptr, &status, 1, nullptr);
    wake_.trigger();
}

bool Http2Session::submitResponse(Http2Stream& stream, Fields const& fields, bool hasBody) {
    if (!stream.session)
        return false;
    std::vector<nghttp2_nv> const& pairs = Callbacks::pairs(fields);
    nghttp2_data_provider body = {{.ptr = &stream}, Callbacks::piece};
    nghttp2_submit_response(session_, stream.id, pairs.data(), pairs.size(), hasBody ? &body : nullptr);
    wake_.trigger();
    return true;
}

Reference<Http2Stream> Http2Session::submitRequest(Fields const& fields, bool hasBody) {
    std::vector<nghttp2_nv> const& pairs = Callbacks::pairs(fields);
    Reference<Http2Stream> stream = addStream(0);
    nghttp2_data_provider body = {{.ptr = stream.getPtr()}, Callbacks::piece};
    stream->id = nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(), hasBody ? &body : nullptr,
                                        stream.getPtr());
    if (stream->id < 0) {
        stream->session = nullptr;
        stream->error = operation_failed().withSentence(nghttp2_strerror(stream->id));
        release(*stream);
    }
    wake_.trigger();
    return stream;
}

} // namespace flow::net::http::detail
