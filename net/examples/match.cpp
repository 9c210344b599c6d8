// match TEXT: prints the lines of the standard input that contain TEXT, at the speed of the reader.
//
//     $ seq 1000000 | match 99 | head -1
//     99

#include "flow/file/lines.h"
#include "net/examples/program.h"
#include "net/real/standard_streams.h"

using namespace flow;

namespace {

Future<Void> match(std::string text) {
    Lines lines(net::standardInput());
    Reference<net::Connection> output = net::standardOutput();
    try {
        while (Optional<std::string> line = co_await lines.next()) {
            if (line->find(text) == std::string::npos)
                continue;
            net::Bytes found = StringRef(*line + "\n");
            co_await output->write(found);
        }
        co_await output->flushed();
    } catch (Error& error) {
        if (error != connection_reset()) // connection_reset: the reader has ended, as in `| head -1`
            throw;
    }
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "TEXT", 1, 1, [](Arguments arguments) { return match(arguments[0]); });
}
