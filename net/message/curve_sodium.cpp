// CURVE with libsodium (RFC 26 of ZeroMQ).
//
// Each side has a long-term pair of keys, and makes a short-term pair for the connection. The client sends HELLO with
// its short-term public key. The server answers WELCOME with its short-term public key and a cookie, encrypted with its
// long-term key, which proves its identity. The client sends INITIATE: the cookie, its long-term public key, and a
// vouch, which binds its two keys to each other. The server authenticates the long-term key, and sends READY. Then
// CurveCipher encrypts each frame with the short-term keys. Nonces grow, so a repeated frame is refused.

#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "net/message/curve.h"
#include "net/message/z85.h"

#include <sodium.h>

namespace flow::net {
namespace {

using zmtp::Fault;

constexpr std::size_t kKey = 32, kMac = 16, kShort = 8, kLong = 16;
constexpr std::size_t kCookie = 96, kVouch = kLong + 2 * kKey + kMac;

unsigned char const* bytesOf(std::string_view text) {
    return reinterpret_cast<unsigned char const*>(text.data());
}
unsigned char* bytesOf(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

/// In a simulation the bytes depend on the seed.
std::string randomBytes(std::size_t count) {
    std::string bytes(count, '\0');
    if (!Loop::current().isSimulated())
        randombytes_buf(bytes.data(), count);
    else
        for (char& byte : bytes)
            byte = static_cast<char>(deterministicRandom()->randomInt(0, 256));
    return bytes;
}

struct Pair {
    std::string open, secret;
};
Pair makePair() {
    Pair pair{std::string(kKey, '\0'), std::string(kKey, '\0')};
    crypto_box_seed_keypair(bytesOf(pair.open), bytesOf(pair.secret), bytesOf(randomBytes(kKey)));
    return pair;
}

std::string box(std::string_view plain, std::string const& nonce, std::string_view to, std::string_view from) {
    std::string closed(plain.size() + kMac, '\0');
    if (crypto_box_easy(bytesOf(closed), bytesOf(plain), plain.size(), bytesOf(nonce), bytesOf(to), bytesOf(from)) != 0)
        throw serialization_failed(); // the peer's key is a weak key
    return closed;
}
/// Returns nothing if `closed` was not made with the keys of `from` and `to`.
std::optional<std::string> unbox(std::string_view closed, std::string const& nonce, std::string_view from,
                                 std::string_view to) {
    if (closed.size() < kMac)
        return {};
    std::string plain(closed.size() - kMac, '\0');
    if (crypto_box_open_easy(bytesOf(plain), bytesOf(closed), closed.size(), bytesOf(nonce), bytesOf(from),
                             bytesOf(to)) != 0)
        return {};
    return plain;
}

std::string shortNonce(std::uint64_t number) {
    std::string bytes;
    zmtp::appendBigEndian(bytes, number, kShort);
    return bytes;
}

class CurveCipher final : public Cipher {
public:
    CurveCipher(bool isServer, std::string const& theirs, std::string const& ours, std::uint64_t sent,
                std::uint64_t received)
        : sends_(isServer ? "CurveZMQMESSAGES" : "CurveZMQMESSAGEC"),
          receives_(isServer ? "CurveZMQMESSAGEC" : "CurveZMQMESSAGES"), sent_(sent), received_(received) {
        if (crypto_box_beforenm(key_, bytesOf(theirs), bytesOf(ours)) != 0)
            throw serialization_failed();
    }
    ~CurveCipher() override { sodium_memzero(key_, sizeof key_); }

    void close(std::string& out, std::string_view body, zmtp::FrameFlags flags) override {
        std::string plain(1, static_cast<char>((flags.more ? 1 : 0) | (flags.command ? 2 : 0)));
        plain.append(body);
        std::string number = shortNonce(++sent_);
        // As in libzmq, the frame has no command flag.
        std::size_t bytes = kName.size() + kShort + plain.size() + kMac;
        zmtp::appendFrameHeader(out, bytes, {});
        out.append(kName).append(number);
        std::size_t at = out.size();
        out.resize(at + plain.size() + kMac);
        crypto_box_easy_afternm(bytesOf(out) + at, bytesOf(plain), plain.size(), bytesOf(sends_ + number), key_);
    }

    Fault open(std::string_view closed, std::string& plain, zmtp::Frame& frame) override {
        if (closed.size() < kShort + kMac + 1)
            return Fault::BadCommand;
        std::string number(closed.substr(0, kShort));
        closed.remove_prefix(kShort);
        std::uint64_t count = zmtp::readBigEndian(number);
        if (count <= received_)
            return Fault::NonceRepeated;
        plain.resize(closed.size() - kMac);
        if (crypto_box_open_easy_afternm(bytesOf(plain), bytesOf(closed), closed.size(), bytesOf(receives_ + number),
                                         key_) != 0)
            return Fault::BadEncryption;
        received_ = count;
        frame.more = (plain[0] & 1) != 0;
        frame.command = (plain[0] & 2) != 0;
        frame.body = std::string_view(plain).substr(1);
        return Fault::None;
    }

private:
    static constexpr std::string_view kName = "\7MESSAGE";

    std::string sends_, receives_; // the first 16 bytes of the nonces
    unsigned char key_[crypto_box_BEFORENMBYTES];
    std::uint64_t sent_, received_;
};

/// Removes `bytes` bytes from the front of `data`. Refuses the peer if there are fewer.
std::string take(Handshake& shake, std::string_view& data, std::size_t bytes) {
    if (data.size() < bytes)
        refuse(shake.peer, Fault::BadCommand);
    std::string taken(data.substr(0, bytes));
    data.remove_prefix(bytes);
    return taken;
}
std::string opened(Handshake& shake, std::optional<std::string> plain) {
    if (!plain)
        refuse(shake.peer, Fault::BadEncryption);
    return *plain;
}

} // namespace

bool hasCurve() {
    return ::sodium_init() >= 0;
}

CurveKeys makeCurveKeys() {
    std::string open(kKey, '\0'), secret(kKey, '\0');
    if (!hasCurve())
        throw unsupported_operation();
    crypto_box_keypair(bytesOf(open), bytesOf(secret));
    return {z85Encode(open), z85Encode(secret)};
}

std::string curvePublicKey(std::string_view secretKey) {
    std::string open(kKey, '\0');
    crypto_scalarmult_base(bytesOf(open), bytesOf(secretKey));
    return open;
}

Future<Void> curveServer(Handshake shake) {
    MessageOptions const& options = shake.options;
    std::string hello = co_await shake.next("HELLO");
    std::string_view rest = hello;
    std::string version = take(shake, rest, 2);
    (void)take(shake, rest, 72);
    std::string clientKey = take(shake, rest, kKey), number = take(shake, rest, kShort);
    if (version != std::string("\1\0", 2) || rest.size() != 64 + kMac)
        refuse(shake.peer, Fault::BadCommand);
    (void)opened(shake, unbox(rest, "CurveZMQHELLO---" + number, clientKey, options.curveSecretKey));

    Pair ours = makePair();
    std::string cookie = randomBytes(kCookie), nonce = randomBytes(kLong);
    std::string welcome = nonce + box(ours.open + cookie, "WELCOME-" + nonce, clientKey, options.curveSecretKey);
    co_await shake.send("WELCOME", welcome);

    std::string initiate = co_await shake.next("INITIATE");
    rest = initiate;
    std::string back = take(shake, rest, kCookie);
    if (sodium_memcmp(back.data(), cookie.data(), kCookie) != 0)
        refuse(shake.peer, Fault::BadEncryption);
    number = take(shake, rest, kShort);
    std::uint64_t received = zmtp::readBigEndian(number);
    std::string inside = opened(shake, unbox(rest, "CurveZMQINITIATE" + number, clientKey, ours.secret));
    rest = inside;
    std::string longKey = take(shake, rest, kKey), vouch = take(shake, rest, kVouch);
    std::string vouched = opened(
        shake, unbox(std::string_view(vouch).substr(kLong), "VOUCH---" + vouch.substr(0, kLong), longKey, ours.secret));
    if (vouched != clientKey + curvePublicKey(options.curveSecretKey))
        refuse(shake.peer, Fault::BadEncryption);
    Credentials credentials;
    credentials.mechanism = "CURVE";
    credentials.user = z85Encode(longKey);
    co_await shake.authenticate(std::move(credentials), false);
    shake.readMetadata(rest);

    number = shortNonce(1);
    std::string ready = number + box(shake.metadata(), "CurveZMQREADY---" + number, clientKey, ours.secret);
    co_await shake.send("READY", ready);
    shake.peer.cipher = std::make_unique<CurveCipher>(true, clientKey, ours.secret, 1, received);
}

Future<Void> curveClient(Handshake shake) {
    MessageOptions const& options = shake.options;
    Pair ours = makePair();
    std::string number = shortNonce(1);
    std::string hello("\1\0", 2);
    hello.append(72, '\0').append(ours.open).append(number);
    hello += box(std::string(64, '\0'), "CurveZMQHELLO---" + number, options.curveServerKey, ours.secret);
    co_await shake.send("HELLO", hello);

    std::string welcome = co_await shake.next("WELCOME");
    std::string_view rest = welcome;
    std::string nonce = take(shake, rest, kLong);
    std::string inside = opened(shake, unbox(rest, "WELCOME-" + nonce, options.curveServerKey, ours.secret));
    if (inside.size() != kKey + kCookie)
        refuse(shake.peer, Fault::BadCommand);
    std::string serverKey = inside.substr(0, kKey), cookie = inside.substr(kKey);

    nonce = randomBytes(kLong);
    std::string vouch =
        nonce + box(ours.open + options.curveServerKey, "VOUCH---" + nonce, serverKey, options.curveSecretKey);
    number = shortNonce(2);
    std::string initiate = cookie + number;
    initiate +=
        box(options.curvePublicKey + vouch + shake.metadata(), "CurveZMQINITIATE" + number, serverKey, ours.secret);
    co_await shake.send("INITIATE", initiate);

    std::string ready = co_await shake.next("READY");
    rest = ready;
    number = take(shake, rest, kShort);
    std::string metadata = opened(shake, unbox(rest, "CurveZMQREADY---" + number, serverKey, ours.secret));
    shake.readMetadata(metadata);
    shake.peer.cipher = std::make_unique<CurveCipher>(false, serverKey, ours.secret, 2, zmtp::readBigEndian(number));
}

} // namespace flow::net
