#pragma once
// Cipher: encrypts and decrypts frames. Only net/message uses it.

#include "net/message/detail/zmtp.h"

namespace flow::net {

class Cipher {
public:
    virtual ~Cipher() = default;
    /// Encrypts `body`, and appends the frame to `out`.
    virtual void close(std::string& out, std::string_view body, zmtp::FrameFlags flags) = 0;
    /// Decrypts the body `closed` of a received frame into `plain`. `frame` then points into `plain`.
    virtual zmtp::Fault open(std::string_view closed, std::string& plain, zmtp::Frame& frame) = 0;
};

} // namespace flow::net
