#pragma once
// TimedRequest under the old header name: a base class of requests, with the time when the request was made. In the
// receiving process it is the time when the request was read.
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
