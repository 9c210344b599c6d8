#pragma once
// RequestReader: parses the bytes of a connection into HTTP requests, with Boost.Beast's parser.
//
//     RequestReader reader;
//     reader.add(bytes);                          // bytes after a request stay for the next one
//     if (reader.isWhole())
//         answer(reader.request());
//     reader.next();

#include "flow/memory/string_ref.h"

#include <memory>
#include <string>

/// The parts of a request that a server needs.
struct HttpRequest {
    int failure = 0; // 0, or the status with which to refuse the request, such as 400
    std::string method, path;
    std::string range;       // the field, or ""
    bool keepsAlive = false; // the connection may go on afterwards
};

class RequestReader {
public:
    static constexpr unsigned kLargestHeader = 8192; // bytes; also of the fields in and behind a chunked body
    static constexpr unsigned kLargestBody = 65536;  // bytes, which are skipped

    RequestReader();
    ~RequestReader();

    void add(flow::StringRef bytes);
    /// True if an incomplete request has been received.
    bool hasBegun() const;
    /// True if there is a complete request.
    bool isWhole() const { return isWhole_; }
    HttpRequest const& request() const { return request_; }
    /// True once: the client waits for "100 Continue" before it sends the body.
    bool takeExpectation();
    /// Refuses the incomplete request with that status.
    void refuse(int failure);
    /// Removes the answered request.
    void next();

private:
    struct Parser;

    void parse();
    bool isAmbiguous() const;
    void skipEmptyLines();

    std::unique_ptr<Parser> parser_;
    std::string rest_;
    std::size_t begin_ = 0; // of the bytes that the parser has not taken
    HttpRequest request_;
    bool isWhole_ = false, wasAsked_ = false;
};
