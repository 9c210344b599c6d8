#pragma once
// RequestReader: takes the bytes of a connection apart into HTTP requests, with Boost.Beast's parser.
//
//     RequestReader reader;
//     reader.add(bytes);                          // what comes behind a request stays for the next one
//     if (reader.isWhole())
//         answer(reader.request());
//     reader.next();

#include "flow/memory/string_ref.h"

#include <memory>
#include <string>

/// What a server has to know of a request.
struct HttpRequest {
    int failure = 0; // 0, or the status that the request is to be refused with, as 400
    std::string method, path;
    std::string range;       // the field, or ""
    bool keepsAlive = false; // the connection may go on afterwards
};

class RequestReader {
public:
    static constexpr unsigned kLargestHeader = 8192; // bytes
    static constexpr unsigned kLargestBody = 65536;  // bytes, which nobody reads

    RequestReader();
    ~RequestReader();

    void add(flow::StringRef bytes);
    /// Whether something of a request has come that is not whole yet.
    bool hasBegun() const;
    /// Whether there is a request to be answered.
    bool isWhole() const { return isWhole_; }
    HttpRequest const& request() const { return request_; }
    /// True once: the client waits for "100 Continue" before it sends the body.
    bool takeExpectation();
    /// What has come of a request is to be answered with that status.
    void refuse(int failure);
    /// That one has been answered.
    void next();

private:
    struct Parser;

    void parse();

    std::unique_ptr<Parser> parser_;
    std::string rest_; // bytes that the parser has not taken
    HttpRequest request_;
    bool isWhole_ = false, wasAsked_ = false;
};
