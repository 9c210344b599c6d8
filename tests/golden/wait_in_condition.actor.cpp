#include "flow/actor/keywords.h"

ACTOR Future<Void> waitUntilEmpty(Queue* queue) {
	loop {
		if (wait(queue->size()) == 0)
			return Void();
		while (!wait(queue->pop())) {
		}
	}
}
