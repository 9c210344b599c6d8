#include "scheduler.h"
#include "flow/trace/loop_metrics.h"
#include <algorithm>
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include

ACTOR static Future<Void> attempt(Scheduler::Entry* entry, int* attempts) {
    if ((*attempts)++ > 0)
        entry->figures.retried++;
    try {
        wait(timeoutError(entry->job.run(), entry->job.timeout)); // an attempt that takes longer is cancelled
    } catch (Error& e) {
        if (e.code() == error_code_timed_out)
            entry->figures.timedOut++;
        throw;
    }
    return Void();
}

ACTOR static Future<Void> runOnce(Scheduler::Entry* entry) {
    state int attempts = 0;
    try {
        wait(retry({.attempts = entry->job.attempts}, [entry, count = &attempts] { return attempt(entry, count); }));
        entry->figures.succeeded++;
    } catch (Error& e) {
        if (e.code() == error_code_actor_cancelled)
            throw;
        entry->figures.failed++;
    }
    return Void();
}

ACTOR static Future<Void> repeat(Scheduler::Entry* entry, Future<Void> stop) {
    state double next = now();
    loop {
        wait(runOnce(entry));
        next = std::max(next + entry->job.interval, now()); // no two runs of a job at a time
        choose {
            when(wait(stop)) { return Void(); }
            when(wait(delay(next - now()))) {}
        }
    }
}

// When it ends, `jobs` is destroyed: what still runs is cancelled.
ACTOR static Future<Void> runAll(std::vector<Future<Void>> jobs, Future<Void> stop, double grace) {
    wait(stop);
    choose {
        when(wait(waitForAll(jobs))) {}
        when(wait(delay(grace))) {}
    }
    return Void();
}

Future<Void> Scheduler::run(Future<Void> stop, double grace) {
    std::vector<Future<Void>> jobs;
    for (auto& [name, entry] : entries_)
        jobs.push_back(repeat(&entry, stop));
    return runAll(std::move(jobs), stop, grace);
}

std::string Scheduler::metrics() const {
    std::string text;
    auto append = [&](const char* metric, int JobFigures::*figure) {
        for (auto const& [name, entry] : entries_)
            appendPrometheus(text, metric, "counter", prometheusLabel("job", name), entry.figures.*figure);
    };
    append("job_runs_succeeded_total", &JobFigures::succeeded);
    append("job_runs_failed_total", &JobFigures::failed);
    append("job_attempts_retried_total", &JobFigures::retried);
    append("job_attempts_timed_out_total", &JobFigures::timedOut);
    return text;
}
