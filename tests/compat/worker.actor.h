#pragma once
// A header with actors in it, under the convention of two guards: the build includes the file that actorc has made of it.

#if defined(NO_INTELLISENSE) && !defined(COMPAT_WORKER_ACTOR_G_H)
#define COMPAT_WORKER_ACTOR_G_H
#include "compat/worker.actor.g.h"
#elif !defined(COMPAT_WORKER_ACTOR_H)
#define COMPAT_WORKER_ACTOR_H

// As programs declare them that include nothing for it. Not for editors, which read what actorc did not.
#ifdef NO_INTELLISENSE
template <class T>
class Future;
class Void;
struct StringRef;
template <typename T> class Reference;
Future<Void> declaredEarly(StringRef, Reference<int>*);
#endif

#include "flow/flow.h"
#include "flow/genericactors.actor.h"
#include "flow/actorcompiler.h" // This must be the last #include.

struct Request {
    int id = 0;
    Promise<int> reply;
};

/// Answers one request at a time, in order; a request may be taken back.
class Worker : public ReferenceCounted<Worker> {
public:
    explicit Worker(double seconds) : seconds(seconds) { serving = serve(this); }

    Future<int> ask(int id) {
        Request request;
        request.id = id;
        Future<int> answer = request.reply.getFuture();
        requests.send(request);
        return answer;
    }
    int answered() const { return total; }
    Future<Void> idle() { return waitUntilIdle(Reference<Worker>::addRef(this)); }

private:
    ACTOR static Future<Void> serve(Worker* self);
    ACTOR static Future<Void> waitUntilIdle(Reference<Worker> self) {
        while (self->busy.get())
            wait(self->busy.onChange());
        return Void();
    }

    double seconds;
    int total = 0;
    AsyncVar<bool> busy;
    PromiseStream<Request> requests;
    Future<Void> serving;
};

ACTOR template <class T>
Future<Void> expect(Future<T> f, T value, const char* what) {
    T got = wait(f);
    printf("%s: %s\n", what, got == value ? "as expected" : "something else");
    return Void();
}

#include "flow/unactorcompiler.h"
#endif
