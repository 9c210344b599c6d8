#pragma once
// compressed(): makes a handler that compresses the bodies of another handler with gzip, for clients that accept it.
//
//     co_await http::serve(listener, http::compressed(router), {}, stop);
//
// A body is compressed if its response has a status from 200 on, but not 206 (a part of a file), a content type that
// becomes smaller (isCompressible), no Content-Encoding, no "Cache-Control: no-transform", and at least `leastBytes`
// bytes or an unknown size. The compressed body has an unknown size. A strong ETag becomes a weak one, because the
// bytes differ. A response that could be compressed has "Vary: Accept-Encoding", even for a client without gzip. Each
// piece of a body of unknown size is flushed, so the client gets the piece at once.
//
// Do not compress a secret together with text that an attacker chooses: the size of the result reveals the secret (the
// BREACH attack).
//
// Compression runs on the loop, at most 32 KiB of a body at a time. It needs up to 256 KiB of memory for each body that
// is being sent, and less for a small one.

#include "net/http/server.h"

#include <cstdint>
#include <string_view>

namespace flow::net::http {

struct CompressOptions {
    int level = 4;                   // from 1 (fast) to 9 (small)
    std::uint64_t leastBytes = 1024; // a smaller body stays as it is
    /// Returns true for the types to compress. Null: text, JSON, XML, scripts, SVG and WebAssembly.
    bool (*isCompressible)(std::string_view contentType) = nullptr;
};

/// Makes the handler. Throws invalid_option_value, and unsupported_operation if this build has no zlib.
Handler compressed(Handler handler, CompressOptions options = {});
/// Makes the handler from one with `ending`, such as a Router. Throws the same errors.
HandlerToTheEnd compressed(HandlerToTheEnd handler, CompressOptions options = {});

/// True if this build has zlib.
bool canCompress();

} // namespace flow::net::http
