// echo PORT [--cert FILE --key FILE]: sends the bytes of each client back to the client; with a certificate, over TLS.
// SIGTERM and SIGINT end the program cleanly.
//
//     $ echo 4500 &
//     $ printf hello | nc -N 127.0.0.1 4500
//     hello

#include "net/examples/echo.h"

#include "net/examples/secure.h"

int main(int argc, char** argv) {
    return runExample(argc, argv, "PORT [--cert FILE --key FILE]", 1, 5, [](Arguments arguments) {
        Options options = takeOptions(arguments, 1, {"--cert", "--key"});
        return serve(arguments[0], echo, secure(options, {}));
    });
}
