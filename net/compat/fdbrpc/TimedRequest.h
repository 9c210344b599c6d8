#pragma once
// TimedRequest under the old header name: a base class of requests, with a time: when the request was made, or, in the
// process that receives it, when it was read.
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
