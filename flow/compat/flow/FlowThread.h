#pragma once
// ThreadReturnPromiseStream and ThreadFutureStream, under the header's name in newer versions of Flow.

#include "IThreadPool.h"
#include "ThreadHelper.actor.h"
