#if defined(NO_INTELLISENSE) && !defined(LOOKUP_CACHE_ACTOR_G_H)
#define LOOKUP_CACHE_ACTOR_G_H
#include "LookupCache.actor.g.h"
#elif !defined(LOOKUP_CACHE_ACTOR_H)
#define LOOKUP_CACHE_ACTOR_H
#pragma once

#include "flow/flow.h"
#include "flow/Arena.h"
#include "flow/genericactors.actor.h"
#include <functional>
#include <map>
#include "flow/actorcompiler.h" // This must be the last #include.

typedef std::function<Future<Standalone<StringRef>>(Standalone<StringRef>)> Source;

// Asks a slow source once for each key, whatever number of callers wait for it, and forgets answers after a while.
class LookupCache : public ReferenceCounted<LookupCache> {
public:
	LookupCache(Source source, double expirySeconds) : source(source), expirySeconds(expirySeconds) {}

	Future<Standalone<StringRef>> get(Standalone<StringRef> key);
	int size() const { return entries.size(); }

	int lookups = 0;

private:
	ACTOR static Future<Standalone<StringRef>> lookup(LookupCache* self, Standalone<StringRef> key);

	Source source;
	double expirySeconds;
	std::map<Standalone<StringRef>, Future<Standalone<StringRef>>> entries;
	ActorCollection expiring{ false };

	ACTOR static Future<Void> expire(LookupCache* self, Standalone<StringRef> key);
};

// The answers for all keys, in their order, or the first error.
ACTOR template <class Key>
Future<std::vector<Standalone<StringRef>>> getEach(Reference<LookupCache> cache, std::vector<Key> keys) {
	state std::vector<Future<Standalone<StringRef>>> answers;
	for (auto const& key : keys) {
		answers.push_back(cache->get(key));
	}
	std::vector<Standalone<StringRef>> all = wait(getAll(answers));
	return all;
}

#include "flow/unactorcompiler.h"
#endif
