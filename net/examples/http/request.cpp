#include "net/examples/http/request.h"

#include <algorithm>
#include <string_view>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace http = boost::beast::http;

constexpr std::string_view kLastChunk = "0\r\n\r\n";

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
    rest_.erase(0, begin_); // once for each read, since one read may have many small requests
    begin_ = 0;
    rest_ += bytes.toStringView();
    parse();
}

bool RequestReader::hasBegun() const {
    return begin_ != rest_.size() || parser_->got_some();
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

namespace {

/// True if the last coding is exactly "chunked", and no other coding is: only then the end of the body is known.
bool endsInChunked(std::string_view codings) {
    for (bool isLast = false; !isLast;) {
        std::size_t comma = std::min(codings.find(','), codings.size());
        isLast = comma == codings.size();
        std::string_view coding = codings.substr(0, comma);
        codings.remove_prefix(std::min(comma + 1, codings.size()));
        coding.remove_prefix(std::min(coding.find_first_not_of(" \t"), coding.size()));
        coding = coding.substr(0, coding.find_last_not_of(" \t") + 1);
        if (boost::beast::iequals(coding, "chunked") != isLast)
            return false;
    }
    return true;
}

} // namespace

/// True if the parser and another server on the way could find different ends of the request (RFC 9112, 6.1 and 6.3).
bool RequestReader::isAmbiguous() const {
    auto const& message = parser_->get();
    std::size_t count = message.count(http::field::transfer_encoding);
    if (count == 0)
        return false;
    return count > 1 || message.version() != 11 || message.count(http::field::content_length) != 0 ||
           !parser_->chunked() || !endsInChunked(message[http::field::transfer_encoding]);
}

/// Skips empty lines before a request.
void RequestReader::skipEmptyLines() {
    while (!parser_->got_some() && rest_.compare(begin_, 2, "\r\n") == 0)
        begin_ += 2;
}

void RequestReader::parse() {
    skipEmptyLines();
    while (!isWhole_ && begin_ != rest_.size()) {
        if (!parser_->got_some() && rest_.compare(begin_, std::string::npos, "\r") == 0)
            return; // this may be the beginning of an empty line
        std::string_view rest = std::string_view(rest_).substr(begin_);
        if (parser_->is_header_done() && parser_->chunked() && rest.size() < kLastChunk.size())
            return; // more must come: for a part of the last chunk, an assertion of the parser would fail
        boost::beast::error_code error;
        begin_ += parser_->put(boost::asio::buffer(rest), error);
        if (parser_->is_header_done() && isAmbiguous())
            return refuse(400);
        if (error == http::error::need_more) {
            // The parser limits only the bytes that it takes. It takes a trailer or a chunk's extension only whole.
            if (rest_.size() - begin_ > kLargestHeader)
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
    if (message.count(http::field::if_range) != 0) // this server has no validators, so none can match
        request_.range.clear();
    request_.keepsAlive = message.keep_alive();
    if (message.version() == 11 && message.count(http::field::host) != 1)
        request_.failure = 400;
}
