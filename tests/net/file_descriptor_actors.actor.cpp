// Waits for a FileDescriptor in the actor language; file_descriptor_test.cpp has coroutines.

#include "flow/flow.h"
#include "net/file_descriptor.h"

#include <unistd.h>

#include "flow/actorcompiler.h" // must be the last include

using namespace flow;
using namespace flow::net;

ACTOR Future<int> countByActor(FileDescriptor* descriptor, int bytes) {
    state int count = 0;
    for (; count < bytes; ++count) {
        wait(descriptor->readable());
        char byte;
        if (::read(descriptor->number(), &byte, 1) != 1)
            break;
    }
    return count;
}
