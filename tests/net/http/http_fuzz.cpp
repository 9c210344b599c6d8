// A fuzzer of the parsers of HTTP/1.1, with LLVM's libFuzzer:
//     cmake --preset tests && cmake --build --preset tests --target http_fuzz
//     build/tests/tests/http_fuzz -runs=10000000 -max_len=2000 tests/net/http/http_corpus
// However a stream is cut into pieces, the same requests are found in it.

#include "net/http/detail/head.h"
#include "tests/net/http/http_streams.h"

#include <cstdlib>

using namespace flow::net;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view bytes(reinterpret_cast<char const*>(data), size);
    if (readStream(bytes, size + 1) != readStream(bytes, size / 8 + 1))
        std::abort();
    http::Response response;
    http::detail::Framing framing;
    if (bytes.ends_with("\r\n\r\n"))
        (void)http::detail::parseResponse(Bytes(flow::StringRef(bytes)), 100, "GET", response, framing);
    for (http::Headers::Field field : response.headers)
        if (response.headers.get(field.name).size() > size)
            std::abort();
    return 0;
}
