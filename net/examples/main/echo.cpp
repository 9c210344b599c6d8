// echo PORT: sends back to each client what it sends. Ends cleanly on SIGTERM and SIGINT.
//
//     $ echo 4500 &
//     $ printf hello | nc -N 127.0.0.1 4500
//     hello

#include "net/examples/echo.h"

#include "net/examples/program.h"

int main(int argc, char** argv) {
    return runExample(argc, argv, "PORT", 1, 1, [](Arguments const& arguments) { return serve(arguments[0], echo); });
}
