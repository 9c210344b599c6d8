#include "scheduler.h"
#include "flow/test.h"
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

ACTOR static Future<Void> work(double seconds, int* failures) {
    wait(delay(seconds));
    if (--*failures >= 0)
        throw io_error();
    return Void();
}

static Job job(double seconds, int* failures) {
    return {.name = "job", .interval = 100, .timeout = 10, .attempts = 3, .run = [=] { return work(seconds, failures); }};
}

TEST_CASE("/scheduler/a run is repeated until it succeeds") {
    state int failures = 2;
    state Scheduler scheduler;
    scheduler.add(job(1, &failures));
    wait(scheduler.run(delay(50), 1));
    ASSERT_EQ(scheduler.figures("job").retried, 2);
    ASSERT_EQ(scheduler.figures("job").succeeded, 1);
    ASSERT_EQ(scheduler.figures("job").failed, 0);
    return Void();
}

TEST_CASE("/scheduler/a run fails when all attempts have taken too long") {
    state int failures = 0;
    state Scheduler scheduler;
    scheduler.add(job(11, &failures));
    wait(scheduler.run(delay(50), 1));
    ASSERT_EQ(scheduler.figures("job").timedOut, 3);
    ASSERT_EQ(scheduler.figures("job").failed, 1);
    ASSERT_EQ(scheduler.figures("job").succeeded, 0);
    return Void();
}

TEST_CASE("/scheduler/each interval has a run") {
    state int failures = 0;
    state Scheduler scheduler;
    scheduler.add(job(1, &failures));
    wait(scheduler.run(delay(450), 1)); // at 0, 100, 200, 300, 400
    ASSERT_EQ(scheduler.figures("job").succeeded, 5);
    ASSERT(scheduler.metrics().find("job_runs_succeeded_total{job=\"job\"} 5\n") != std::string::npos);
    return Void();
}

TEST_CASE("/scheduler/a run that has begun may end") {
    state int failures = 0;
    state Scheduler scheduler;
    scheduler.add(job(5, &failures));
    wait(scheduler.run(delay(2), 10));
    ASSERT_EQ(now(), 5);
    ASSERT_EQ(scheduler.figures("job").succeeded, 1);
    return Void();
}

TEST_CASE("/scheduler/a run that does not end in time is cancelled") {
    state int failures = 0;
    state Scheduler scheduler;
    scheduler.add(job(8, &failures));
    wait(scheduler.run(delay(2), 3));
    ASSERT_EQ(now(), 5);
    wait(delay(100));
    ASSERT_EQ(scheduler.figures("job").succeeded, 0);
    ASSERT_EQ(failures, 0); // the work itself has not gone on
    return Void();
}
