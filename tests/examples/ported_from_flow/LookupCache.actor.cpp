#include "LookupCache.actor.h"
#include "flow/ActorCollection.h"
#include "flow/Trace.h"
#include "flow/actorcompiler.h" // This must be the last #include.

Future<Standalone<StringRef>> LookupCache::get(Standalone<StringRef> key) {
	auto found = entries.find(key);
	if (found != entries.end()) {
		return found->second;
	}
	Future<Standalone<StringRef>> answer = lookup(this, key);
	entries[key] = answer;
	expiring.add(expire(this, key));
	return answer;
}

ACTOR Future<Standalone<StringRef>> LookupCache::lookup(LookupCache* self, Standalone<StringRef> key) {
	state double started = now();
	++self->lookups;
	try {
		Standalone<StringRef> answer = wait(self->source(key));
		TraceEvent(SevDebug, "Lookup").detail("Key", key).detail("Seconds", now() - started);
		return answer;
	} catch (Error& e) {
		if (e.code() != error_code_actor_cancelled) {
			TraceEvent(SevWarn, "LookupFailed").error(e).detail("Key", key);
		}
		throw;
	}
}

ACTOR Future<Void> LookupCache::expire(LookupCache* self, Standalone<StringRef> key) {
	wait(delay(self->expirySeconds));
	self->entries.erase(key);
	return Void();
}
