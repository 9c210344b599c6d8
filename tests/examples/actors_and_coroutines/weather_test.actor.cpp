#include "weather.h"
#include "flow/test.h"
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

ACTOR static Future<double> answerAfter(double seconds, double value) {
    wait(delay(seconds));
    return value;
}

static Sensor sensor(double seconds, double value) {
    return [=] { return answerAfter(seconds, value); };
}

TEST_CASE("/weather/a lost question is asked again") {
    state int asked = 0;
    double value = wait(readSensor([&asked = asked] { return answerAfter(asked++ == 0 ? 1000 : 0.2, 21); }));
    ASSERT_EQ(value, 21);
    ASSERT_EQ(asked, 2);
    ASSERT(now() > 1.19 && now() < 1.21);
    return Void();
}

TEST_CASE("/weather/a broken sensor does not count") {
    double value = wait(average({sensor(0.5, 10), sensor(1000, 0), sensor(1.5, 20)}));
    ASSERT_EQ(value, 15);
    ASSERT_EQ(now(), 2); // they are asked at the same time
    return Void();
}

TEST_CASE("/weather/no sensor is an error") {
    ErrorOr<double> value = wait(errorOr(average({sensor(1000, 0)})));
    ASSERT(value.isError() && value.getError().code() == error_code_operation_failed);
    return Void();
}

TEST_CASE("/weather/an actor feeds a coroutine until it is stopped") {
    state PromiseStream<double> averages;
    state Future<double> result = highest(averages.getFuture());
    wait(watch({sensor(0.1, 10), sensor(0.1, 30)}, 60, averages, delay(300)));
    double value = wait(result);
    ASSERT_EQ(value, 20);
    ASSERT_EQ(now(), 300);
    return Void();
}
