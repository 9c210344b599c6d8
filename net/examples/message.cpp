// message: sends and receives messages, to try MessageSocket with any peer that uses ZMTP.
//
//     $ message echo ROUTER bind tcp://127.0.0.1:5555 &
//     $ message sink PULL bind tcp://127.0.0.1:5556 --count 3 &
//     $ message source PUSH connect tcp://127.0.0.1:5556 --count 3 --size 4
//
// echo sends each message back to its sender. sink prints one line for each message: the parts in hex. source sends
// messages of two parts: a decimal number, then `--size` bytes. A REQ source waits for each reply. A PUB or XPUB source
// first waits for a subscriber. SIGTERM and SIGINT end the program cleanly. The files of keys for --curve-server and
// --curve-client are text: 40 characters of Z85.

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/message/curve.h"
#include "net/message/message_endpoint.h"
#include "net/message/message_socket.h"
#include "net/message/z85.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

using namespace flow;
using namespace flow::net;

namespace {

constexpr char kUsage[] = "usage: message echo ROUTER|REP|DEALER|PAIR | sink PULL|SUB|XSUB|PAIR | "
                          "source PUSH|PUB|XPUB|DEALER|PAIR|REQ, bind|connect ENDPOINT [--topic T] [--count N] [--size "
                          "B] [--interval S] [--plain USER:PASSWORD] "
                          "[--curve-server SECRETKEYFILE] [--curve-client SERVERPUBLIC KEYFILE] "
                          "[--identity ID] [--hwm N] [--linger S] [--heartbeat S]";

constexpr std::size_t kLargestSize = Message::kLargest - 1024; // leaves room for the number and the topic

struct Arguments {
    std::string mode, endpoint;
    SocketType type = SocketType::Pair;
    bool binds = false;
    std::string topic;
    std::optional<std::uint64_t> count;
    std::size_t size = 0;
    double interval = 0;
    double linger = 30;
    MessageOptions options;
    std::string wrong; // an error in the arguments that was found at run time
};

struct Wrong {
    std::string text;
};

template <class T>
T numberOf(std::string const& option, std::string const& text) {
    auto number = parseNumber<T>(text);
    if (!number)
        throw Wrong{"the value of " + option + " is no number that fits: " + text};
    return *number;
}
double secondsOf(std::string const& option, std::string const& text) {
    char* end = nullptr;
    double seconds = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(seconds >= 0 && seconds <= 1e9))
        throw Wrong{"the value of " + option + " is no number of seconds: " + text};
    return seconds;
}

/// Returns the last key in a text file of Z85. If the file has two keys, this is the secret key.
std::string keyIn(std::string const& path) {
    std::ifstream file(path);
    std::string word, key;
    while (file >> word)
        if (z85Key(word) && word.size() == 40)
            key = word;
    if (key.empty())
        throw Wrong{"this is no file with a key of 40 characters: " + path};
    return key;
}

SocketType typeOf(std::string const& mode, std::string const& name) {
    struct Type {
        char const* mode;
        char const* name;
        SocketType type;
    };
    static constexpr Type kTypes[] = {{"echo", "ROUTER", SocketType::Router}, {"echo", "REP", SocketType::Rep},
                                      {"echo", "DEALER", SocketType::Dealer}, {"echo", "PAIR", SocketType::Pair},
                                      {"sink", "PULL", SocketType::Pull},     {"sink", "SUB", SocketType::Sub},
                                      {"sink", "XSUB", SocketType::XSub},     {"sink", "PAIR", SocketType::Pair},
                                      {"source", "PUSH", SocketType::Push},   {"source", "PUB", SocketType::Pub},
                                      {"source", "XPUB", SocketType::XPub},   {"source", "DEALER", SocketType::Dealer},
                                      {"source", "PAIR", SocketType::Pair},   {"source", "REQ", SocketType::Req}};
    for (Type const& type : kTypes)
        if (mode == type.mode && name == type.name)
            return type.type;
    throw Wrong{"there is no " + mode + " " + name + "; " + kUsage};
}

void setOption(Arguments& arguments, std::string const& option, std::string const& value) {
    if (option == "--topic") {
        arguments.topic = value;
    } else if (option == "--count") {
        arguments.count = numberOf<std::uint64_t>(option, value);
    } else if (option == "--size") {
        arguments.size = numberOf<std::uint32_t>(option, value);
        if (arguments.size > kLargestSize)
            throw Wrong{"a message has at most 1 GiB: " + value};
    } else if (option == "--interval") {
        arguments.interval = secondsOf(option, value);
    } else if (option == "--linger") {
        arguments.linger = secondsOf(option, value);
    } else if (option == "--heartbeat") {
        arguments.options.heartbeatIvl = secondsOf(option, value);
    } else if (option == "--hwm") {
        arguments.options.sndHwm = arguments.options.rcvHwm = numberOf<std::uint32_t>(option, value);
    } else if (option == "--identity") {
        if (value.empty() || value.size() > 255)
            throw Wrong{"an identity has 1 to 255 bytes"};
        arguments.options.routingId = value;
    } else if (option == "--plain") {
        std::size_t colon = value.find(':');
        if (colon == 0 || colon == std::string::npos || value.size() > 255)
            throw Wrong{"--plain needs USER:PASSWORD"};
        std::string user = value.substr(0, colon), password = value.substr(colon + 1);
        if (arguments.binds) {
            arguments.options.plainServer = true;
            arguments.options.authenticator = [user, password](Credentials const& given) -> Future<bool> {
                return given.user == user && given.password == password;
            };
        } else {
            arguments.options.plainUsername = user;
            arguments.options.plainPassword = password;
        }
    } else if (option == "--curve-server") {
        arguments.options.curveServer = true;
        arguments.options.curveSecretKey = keyIn(value);
    } else {
        throw Wrong{"there is no option " + option + "; " + kUsage};
    }
}

Arguments parse(int argc, char** argv) {
    if (argc < 5)
        throw Wrong{kUsage};
    Arguments arguments;
    arguments.mode = argv[1];
    arguments.type = typeOf(arguments.mode, argv[2]);
    std::string how = argv[3];
    if (how != "bind" && how != "connect")
        throw Wrong{"neither bind nor connect: " + how};
    arguments.binds = how == "bind";
    arguments.endpoint = argv[4];
    try {
        if (MessageEndpoint::parse(arguments.endpoint, arguments.binds ? EndpointUse::Bind : EndpointUse::Connect)
                .isEncrypted)
            throw Wrong{"this program has no TLS: " + arguments.endpoint};
    } catch (Error&) {
        throw Wrong{"this is no endpoint, such as tcp://127.0.0.1:5555 or ipc:///path: " + arguments.endpoint};
    }
    for (int i = 5; i < argc; i += 2) {
        if (i + 1 == argc)
            throw Wrong{std::string(argv[i]) + " needs a value"};
        if (std::string_view(argv[i]) == "--curve-client") {
            if (i + 2 == argc)
                throw Wrong{"--curve-client needs SERVERPUBLIC and KEYFILE"};
            arguments.options.curveServerKey = keyIn(argv[i + 1]);
            arguments.options.curveSecretKey = keyIn(argv[i + 2]);
            ++i;
        } else {
            setOption(arguments, argv[i], argv[i + 1]);
        }
    }
    bool isCurve = arguments.options.curveServer || !arguments.options.curveServerKey.empty();
    bool isPlain = arguments.options.plainServer || !arguments.options.plainUsername.empty();
    if (isCurve && !hasCurve())
        throw Wrong{"this program was built without libsodium, so that there is no CURVE"};
    if ((isCurve && isPlain) || (arguments.options.curveServer && !arguments.options.curveServerKey.empty()))
        throw Wrong{"only one of --plain, --curve-server and --curve-client"};
    if (arguments.mode == "source" && !arguments.count)
        throw Wrong{"source needs --count"};
    return arguments;
}

Future<Void> echo(MessageSocket* socket) {
    for (;;) {
        Message message = co_await socket->receive();
        if (message.routingId().empty())
            co_await socket->send(message);
        else
            (void)socket->trySend(message); // a peer that does not read must not stop the others
    }
}

void print(Message const& message) {
    std::string line;
    constexpr char kDigits[] = "0123456789abcdef";
    for (std::string_view part : message) {
        for (char byte : part) {
            line += kDigits[static_cast<unsigned char>(byte) >> 4];
            line += kDigits[byte & 15];
        }
        line += ' ';
    }
    line.pop_back();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

Future<Void> sink(MessageSocket* socket, Arguments arguments) {
    for (std::uint64_t i = 0; !arguments.count || i < *arguments.count; ++i)
        print(co_await socket->receive());
}

Future<Void> source(MessageSocket* socket, Arguments arguments) {
    while (arguments.type == SocketType::Pub && socket->peers() == 0)
        co_await delay(0.01);
    if (arguments.type == SocketType::Pub)
        co_await delay(0.2); // waits for the peer's subscription
    if (arguments.type == SocketType::XPub)
        (void)co_await socket->receive();
    std::string body(arguments.size, 'x');
    for (std::uint64_t i = 0; i < *arguments.count; ++i) {
        Message message(arguments.topic + std::to_string(i));
        message.add(body);
        co_await socket->send(message);
        if (arguments.type == SocketType::Req)
            (void)co_await socket->receive();
        if (arguments.interval > 0)
            co_await delay(arguments.interval);
    }
}

void bind(MessageSocket& socket, Arguments& arguments) {
    try {
        std::fprintf(stderr, "bound to %s\n", socket.bind(arguments.endpoint).c_str());
    } catch (Error& error) {
        arguments.wrong = "cannot bind to " + arguments.endpoint + ": " + error.what();
        throw;
    }
}

Future<Void> run(Arguments* arguments) {
    MessageSocket socket(arguments->type, arguments->options);
    if (arguments->type == SocketType::Sub || arguments->type == SocketType::XSub)
        socket.subscribe(arguments->topic);
    if (arguments->binds)
        bind(socket, *arguments);
    else
        socket.connect(arguments->endpoint);
    Future<Void> work = arguments->mode == "echo"   ? echo(&socket)
                        : arguments->mode == "sink" ? sink(&socket, *arguments)
                                                    : source(&socket, *arguments);
    (void)co_await race(std::move(work), signals({SIGTERM, SIGINT}));
    co_await socket.close(arguments->linger);
}

} // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    try {
        arguments = parse(argc, argv);
        RealLoop loop;
        loop.run(run(&arguments));
        return 0;
    } catch (Wrong& wrong) {
        std::fprintf(stderr, "message: %s\n", wrong.text.c_str());
        return 2;
    } catch (Error& error) {
        bool isWrong = !arguments.wrong.empty();
        std::fprintf(stderr, "message: %s\n", isWrong ? arguments.wrong.c_str() : error.what());
        return isWrong ? 2 : 1;
    }
}
