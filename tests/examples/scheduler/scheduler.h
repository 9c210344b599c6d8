#pragma once
// Scheduler: runs jobs again and again, each in an interval of its own.
//
//     Scheduler scheduler;
//     scheduler.add({.name = "backup", .interval = 3600, .timeout = 60, .attempts = 3, .run = backup});
//     loop.run(scheduler.run(stop, 10.0));

#include "flow/flow.h"

#include <functional>
#include <map>
#include <string>

struct Job {
    std::string name;
    double interval; // seconds from the start of a run to the next one
    double timeout;  // seconds that one attempt may take
    int attempts;    // of one run, until it has failed
    std::function<flow::Future<flow::Void>()> run;
};

struct JobFigures {
    int succeeded = 0; // runs
    int failed = 0;    // runs
    int retried = 0;   // attempts behind the first one of a run
    int timedOut = 0;  // attempts
};

class Scheduler {
public:
    /// The names must be unique.
    void add(Job job) { entries_[job.name] = {job, {}}; }
    /// Runs the jobs until `stop`. Runs that have begun get `grace` seconds to end; the others are cancelled. The
    /// scheduler must outlive the future.
    flow::Future<flow::Void> run(flow::Future<flow::Void> stop, double grace);
    JobFigures const& figures(std::string const& name) const { return entries_.at(name).figures; }
    /// In the text format of Prometheus.
    std::string metrics() const;

    struct Entry {
        Job job;
        JobFigures figures;
    };

private:
    std::map<std::string, Entry> entries_;
};
