#pragma once
// Collections of actors under the old header name.

#include "../../flow.h"
#include "../collection.h"

#include <utility>

using flow::ActorCollection;
using flow::actorCollection;
using flow::ActorCollectionNoErrors;
using flow::SignalableActorCollection;

/// Like actorCollection(actors), and counts the running actors. When the first actor comes or the last actor ends, sets
/// `*lastChangeTime`, and adds the seconds since its old value to `*allTime`, and to `*idleTime` if no actor ran
/// meanwhile.
inline flow::Future<flow::Void> actorCollection(flow::FutureStream<flow::Future<flow::Void>> actors, int* count,
                                                double* lastChangeTime = nullptr, double* idleTime = nullptr,
                                                double* allTime = nullptr, bool returnWhenEmptied = false) {
    auto pass = [&](bool isIdle) {
        double seconds = lastChangeTime ? flow::now() - std::exchange(*lastChangeTime, flow::now()) : 0;
        if (idleTime && isIdle)
            *idleTime += seconds;
        if (allTime)
            *allTime += seconds;
    };
    auto run = [](flow::Future<flow::Void> actor, flow::PromiseStream<flow::Void> end) -> flow::Future<flow::Void> {
        co_await std::move(actor);
        end.send(flow::Void());
    };
    int own = 0;
    int& running = count ? *count : own;
    flow::ActorCollection collection(false);
    flow::PromiseStream<flow::Void> ends;
    flow::FutureStream<flow::Void> ended = ends.getFuture();
    flow::Future<flow::Void> failed = collection.getResult();
    for (;;) {
        auto first = co_await flow::race(actors, ended, failed);
        if (first.index() == 0) {
            if (running++ == 0)
                pass(true);
            collection.add(run(std::get<0>(std::move(first)), ends));
        } else if (--running == 0) {
            pass(false);
            if (returnWhenEmptied)
                co_return;
        }
    }
}

#include "flow.h" // as in Flow; must be last, because it includes this file
