#pragma once
// Collections of actors under the old header name.

#include "../../flow.h"

using flow::ActorCollection;
using flow::actorCollection;
using flow::ActorCollectionNoErrors;
using flow::SignalableActorCollection;
