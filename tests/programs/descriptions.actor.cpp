// DESCR: a struct with a description of its fields.
#include "flow/sim.h"
#include "trace.h"
#include <cstdint>
#include <map>
#include "flow/actorcompiler.h"

struct Named {
    std::string owner = "nobody";
};

namespace metrics {

DESCR struct Request : public Named {
    double latency = 0.25; //seconds until the answer
    std::map<int, int> perShard; // says "how many", and \where
    int64_t bytes{7};

    const char* kind; /* no comment of the kind that counts */
    unsigned long long total = 1; int last; // two on a line
};

DESCR struct Empty final {};

} // namespace metrics

template <class T>
void show(T const& value) {
    using D = Descriptor<T>;
    say("%s has %zu fields", std::string(D::typeName()).c_str(), std::tuple_size_v<typename D::fields>);
    forEachField(value, [](auto field, auto const& member) {
        std::string name(field.name()), type(field.typeName()), comment(field.comment());
        say("  %s %s: %zu bytes \"%s\"", type.c_str(), name.c_str(), sizeof member, comment.c_str());
    });
}

ACTOR Future<int> count(metrics::Request request) {
    wait(delay(1));
    request.bytes += __LINE__;
    return static_cast<int>(request.bytes);
}

int main() {
    SimLoop sim;
    metrics::Request request;
    show(request);
    show(metrics::Empty());
    request.bytes = 1;
    say("%d, %s", sim.run(count(request)), request.owner.c_str());
}
