#include "net/examples/http/request.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace http = boost::beast::http;

struct RequestReader::Parser : http::request_parser<http::string_body> {
    Parser() {
        eager(true);
        header_limit(kLargestHeader);
        body_limit(kLargestBody);
    }
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {}
RequestReader::~RequestReader() = default;

void RequestReader::add(flow::StringRef bytes) {
    rest_ += bytes.toString();
    parse();
}

bool RequestReader::hasBegun() const {
    return !rest_.empty() || parser_->got_some();
}

bool RequestReader::takeExpectation() {
    if (isWhole_ || wasAsked_ || !parser_->is_header_done())
        return false;
    wasAsked_ = true;
    return boost::beast::iequals(parser_->get()[http::field::expect], "100-continue");
}

void RequestReader::next() {
    parser_ = std::make_unique<Parser>();
    isWhole_ = wasAsked_ = false;
    parse();
}

void RequestReader::parse() {
    while (!isWhole_ && !rest_.empty()) {
        boost::beast::error_code error;
        std::size_t taken = parser_->put(boost::asio::buffer(rest_), error);
        rest_.erase(0, taken);
        if (error == http::error::need_more) {
            // The parser bounds what it has taken, not a chunk's extension or a trailer that it waits for the end of.
            if (rest_.size() > kLargestHeader)
                refuse(431);
            return;
        }
        if (error == http::error::header_limit)
            return refuse(431);
        if (error == http::error::body_limit)
            return refuse(413);
        if (error == http::error::bad_version)
            return refuse(505);
        if (error)
            return refuse(400);
        if (parser_->is_done())
            return refuse(0);
    }
}

void RequestReader::refuse(int failure) {
    auto const& message = parser_->get();
    isWhole_ = true;
    request_ = {};
    request_.failure = failure;
    if (failure != 0)
        return;
    request_.method = message.method_string();
    request_.path = message.target();
    request_.range = message[http::field::range];
    if (message.count(http::field::if_range) != 0) // there is no validator that could match
        request_.range.clear();
    request_.keepsAlive = message.keep_alive();
    if (message.version() == 11 && message.count(http::field::host) != 1)
        request_.failure = 400;
}
