#include "weather.h"
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

ACTOR Future<double> readSensor(Sensor const& sensor) {
    state Future<double> first = sensor();
    choose {
        when(double value = wait(first)) { return value; }
        when(wait(delay(1.0))) {}
    }
    state Future<double> second = sensor();
    choose { // whichever comes first; the other is cancelled at the end of the actor
        when(double value = wait(first)) { return value; }
        when(double value = wait(second)) { return value; }
        when(wait(delay(1.0))) { throw timed_out(); }
    }
}

ACTOR Future<Void> watch(std::vector<Sensor> const& sensors, double const& seconds,
                         PromiseStream<double> const& averages, Future<Void> const& stop) {
    loop choose {
        when(double value = wait(average(sensors))) {
            averages.send(value);
            wait(delay(seconds) || stop);
        }
        when(wait(stop)) {
            averages.sendError(end_of_stream());
            return Void();
        }
    }
}
