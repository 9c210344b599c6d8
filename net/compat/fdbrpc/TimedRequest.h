#pragma once
// TimedRequest under the old header name: a base class of requests, with the time at which the request was made, or
// read where it arrives.
//
//     struct GetRequest : TimedRequest { ReplyPromise<Value> reply; ... };
//     latency = timer() - request.requestTime();

#include "../../../flow/compat/flow/network.h"

class TimedRequest {
public:
    double requestTime() const { return time_; }
    void setRequestTime(double time) { time_ = time; }

private:
    double time_ = ::timer();
};
