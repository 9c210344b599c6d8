#include "weather.h"

#include <cstdio>

using namespace flow;

int main() {
    RealLoop loop;
    double degrees = 20;
    Sensor warming = [&]() -> Future<double> { return degrees += 0.5; };
    Sensor constant = []() -> Future<double> { return 18.0; };
    PromiseStream<double> averages;
    Future<Void> watching = watch({warming, constant}, 0.1, averages, delay(0.45));
    std::printf("highest average: %.2f degrees\n", loop.run(highest(averages.getFuture())));
}
