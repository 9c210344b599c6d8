#include "LookupCache.actor.h"
#include "flow/TLSConfig.h"
#include "flow/network.h"
#include "flow/actorcompiler.h" // This must be the last #include.

ACTOR Future<Standalone<StringRef>> slowSource(Standalone<StringRef> key) {
	wait(delay(0.2));
	return key.withPrefix("value of "_sr);
}

ACTOR Future<Void> run() {
	state Reference<LookupCache> cache = makeReference<LookupCache>(slowSource, 5.0);
	state std::vector<Standalone<StringRef>> keys = { "a"_sr, "b"_sr, "a"_sr };
	std::vector<Standalone<StringRef>> answers = wait(getEach(cache, keys));
	for (auto const& answer : answers) {
		printf("%s\n", answer.toString().c_str());
	}
	printf("%d lookups\n", cache->lookups);
	return Void();
}

int main() {
	platformInit();
	g_network = newNet2(TLSConfig());
	Future<Void> done = stopAfter(run());
	g_network->run();
	return done.isError() ? 1 : 0;
}
