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
    int failure = 0; // 0, or the status code of the refusal, such as 400
    std::string method, path;
    std::string range;       // the value of the Range field, or ""
    bool keepsAlive = false; // the connection may go on after the answer
};

class RequestReader {
public:
    static constexpr unsigned kLargestHeader = 8192; // bytes; also the limit for fields in and behind a chunked body
    static constexpr unsigned kLargestBody = 65536;  // bytes; a body is skipped

    RequestReader();
    ~RequestReader();

    void add(flow::StringRef bytes);
    /// True if an incomplete request has been received.
    bool hasBegun() const;
    /// True if there is a complete or refused request.
    bool isWhole() const { return isWhole_; }
    HttpRequest const& request() const { return request_; }
    /// True once for each request if its client waits for "100 Continue" before it sends the body.
    bool takeExpectation();
    /// Ends the request, complete or not: refuses it with the status code `failure`, or accepts it if `failure` is 0.
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
    std::size_t begin_ = 0; // the first byte of rest_ that the parser has not taken
    HttpRequest request_;
    bool isWhole_ = false, wasAsked_ = false;
};
