// chat PORT: a chat room for all clients that connect. SIGTERM and SIGINT end the program cleanly.
//
//     $ chat 4500 &
//     $ nc 127.0.0.1 4500                     # in two windows

#include "net/examples/chat.h"

#include "net/examples/program.h"

using namespace flow;
using namespace flow::net;

int main(int argc, char** argv) {
    Room room;
    return runExample(argc, argv, "PORT", 1, 1, [&](Arguments const& arguments) {
        return serve(arguments[0],
                     [&](Reference<Connection> guest, Event* ending) { return chat(&room, guest, ending); });
    });
}
