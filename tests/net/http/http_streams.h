#pragma once
// Reads a stream of bytes as a server of HTTP/1.1 does, for comparisons and for a fuzzer.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct FoundRequest {
    std::string method, target, body;
    friend bool operator==(FoundRequest const&, FoundRequest const&) = default;
};
struct FoundStream {
    std::vector<FoundRequest> requests;
    std::string end; // "end", "closed", "cut", or the status of a refusal
    friend bool operator==(FoundStream const&, FoundStream const&) = default;
};

/// The bytes come in pieces of this size.
FoundStream readStream(std::string_view bytes, std::size_t piece);
