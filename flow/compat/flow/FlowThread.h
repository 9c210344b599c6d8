#pragma once
// Streams from other threads, under the header name of newer programs: ThreadReturnPromiseStream, ThreadFutureStream.

#include "IThreadPool.h"
#include "ThreadHelper.actor.h"
