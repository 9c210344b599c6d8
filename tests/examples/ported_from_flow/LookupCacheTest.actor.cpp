#include "LookupCache.actor.h"
#include "flow/UnitTest.h"
#include "flow/actorcompiler.h" // This must be the last #include.

ACTOR static Future<Standalone<StringRef>> answerAfterASecond(Standalone<StringRef> key) {
	wait(delay(1.0));
	if (key == "wrong"_sr) {
		throw io_error();
	}
	return key;
}

TEST_CASE("/LookupCache/AsksOnce") {
	state Reference<LookupCache> cache = makeReference<LookupCache>(answerAfterASecond, 10.0);
	state std::vector<Standalone<StringRef>> keys = { "a"_sr, "b"_sr, "a"_sr };
	std::vector<Standalone<StringRef>> answers = wait(getEach(cache, keys));
	ASSERT(answers == keys);
	ASSERT(cache->lookups == 2);
	return Void();
}

TEST_CASE("/LookupCache/Forgets") {
	state Reference<LookupCache> cache = makeReference<LookupCache>(answerAfterASecond, 10.0);
	wait(success(cache->get("a"_sr)));
	ASSERT(cache->size() == 1);
	wait(delay(10.0));
	ASSERT(cache->size() == 0);
	wait(success(cache->get("a"_sr)));
	ASSERT(cache->lookups == 2);
	return Void();
}

TEST_CASE("/LookupCache/HandsErrorsOn") {
	state Reference<LookupCache> cache = makeReference<LookupCache>(answerAfterASecond, 10.0);
	state Future<Standalone<StringRef>> first = cache->get("wrong"_sr);
	ErrorOr<Standalone<StringRef>> second = wait(errorOr(cache->get("wrong"_sr)));
	ASSERT(second.isError() && second.getError().code() == error_code_io_error);
	ASSERT(first.isError());
	return Void();
}
