#pragma once
// Cipher: what a security mechanism makes of the frames behind its handshake. Used by net/message alone.

#include "net/message/zmtp.h"

namespace flow::net {

class Cipher {
public:
    virtual ~Cipher() = default;
    /// Appends the frame in which this one is sent.
    virtual void close(std::string& out, std::string_view body, zmtp::FrameFlags flags) = 0;
    /// Opens the body of a frame that came: it is in `plain`, to which `frame` points.
    virtual zmtp::Fault open(std::string_view closed, std::string& plain, zmtp::Frame& frame) = 0;
};

} // namespace flow::net
