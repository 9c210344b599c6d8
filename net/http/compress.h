#pragma once
// compressed(): a handler that sends the bodies of another handler by gzip, to clients that take it.
//
//     co_await http::serve(listener, http::compressed(router), {}, stop);
//
// A body is compressed if its response has status 200 or another one with a body, a content type that becomes smaller
// (isCompressible), no Content-Encoding, no "Cache-Control: no-transform", and at least `leastBytes` bytes or an
// unknown size. It then has an unknown size. A strong ETag becomes a weak one, since the bytes are others. Each
// response that could be compressed has "Vary: Accept-Encoding", also for a client that takes no gzip. The
// client gets each piece of a body of unknown size as soon as the handler has given it.
//
// A part of a file (status 206) is never compressed. Do not compress a secret together with text that an attacker
// chooses: the size of the result tells the attacker about the secret (the attack BREACH).
//
// The work runs on the loop, at most 32 KiB of a body at a time. A compressed body holds up to 256 KiB of memory while
// it is sent, a small one less.

#include "net/http/server.h"

#include <cstdint>
#include <string_view>

namespace flow::net::http {

struct CompressOptions {
    int level = 4;                   // from 1 (fast) to 9 (small)
    std::uint64_t leastBytes = 1024; // a smaller body stays as it is
    /// True for the types to compress: by default text, JSON, XML, scripts, SVG and WebAssembly.
    bool (*isCompressible)(std::string_view contentType) = nullptr;
};

/// Throws invalid_option_value for a wrong option, and unsupported_operation if this build has no zlib.
Handler compressed(Handler handler, CompressOptions options = {});
/// The same for a handler that is told of the end, such as a Router.
HandlerToTheEnd compressed(HandlerToTheEnd handler, CompressOptions options = {});

/// True if this build has zlib.
bool canCompress();

} // namespace flow::net::http
