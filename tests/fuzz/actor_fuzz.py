"""Random actors, and what they must print.

Every decision at run time comes from one generator of numbers (`Env::pick` there, `Model.pick` here); when its fuel is
used up it gives only 0, at which every loop ends.

    python tests/fuzz/actor_fuzz.py SEED COUNT FOLDER     # writes fuzzSEED.actor.cpp and fuzzSEED.expected
"""

from __future__ import annotations

import contextlib
import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from model import CANCELLED, Model, Operand, Raised, Returned
from random_actor import Generator, any_end, leaves
from source_text import PRELUDE, RUNNER, RUNS, block_text

NAMES = {CANCELLED: "actor_cancelled"}


@dataclass
class FuzzActor:
    name: str
    uncancellable: bool
    states: list[str]
    body: list[tuple]

    def text(self) -> str:
        keyword = "ACTOR UNCANCELLABLE" if self.uncancellable else "ACTOR"
        head = f"{keyword} Future<int> {self.name}([[maybe_unused]] Env* env, Token p, std::vector<int> items)"
        return f"{head} {{\n{block_text(self.body, '    ')}}}\n"

    def expect(self, seed: int) -> list[str]:
        model = Model([f"== {self.name} {seed}"], seed, self.states)
        cancel = model.pick(6) - 2
        if cancel >= 0 and not self.uncancellable:
            model.cancel_at = cancel + 0.5
        try:
            model.scoped(self.body)
            raise AssertionError("no return")
        except Returned as returned:
            result = str(returned.value)
        except Raised as raised:
            result = NAMES.get(raised.code, "application_error")
        for name in reversed(self.states):
            if model.values.get(name):
                model.say("~" + name)
        model.say("~p")
        model.say(f"result: {result}")
        if self.uncancellable and cancel >= 0 and model.time > cancel + 0.5:
            model.out = with_ignored_cancel(model, self, seed, cancel + 0.5)
        return model.out


def with_ignored_cancel(model: Model, actor: FuzzActor, seed: int, at: float) -> list[str]:
    """The harness says "cancel" before it calls cancel(): find out between which lines."""
    probe = _Probe([f"== {actor.name} {seed}"], seed, actor.states)
    probe.pick(6)
    probe.watch_at = at
    with contextlib.suppress(Returned, Raised):
        probe.scoped(actor.body)
    return [*model.out[: probe.place], "cancel", *model.out[probe.place :]]


class _Probe(Model):
    watch_at = 0.0
    place = -1

    def suspend_until(self, at: float, operands: list[Operand]) -> None:
        if self.place < 0 and at > self.watch_at:
            self.place = len(self.out)
        super().suspend_until(at, operands)


def generate(seed: int, count: int) -> list[FuzzActor]:
    actors = []
    for index in range(count):
        chance = random.Random(f"{seed}/{index}")
        generator = Generator(chance, budget=chance.choice([8, 20, 40]))
        body = generator.block(chance.randint(2, 5)) + generator.block(2)
        body = body[: next((place for place, each in enumerate(body) if leaves(each)), len(body)) + 1]
        if not any_end(body):
            body.append(("return", 0))
        actors.append(FuzzActor(f"f{index}", chance.random() < 0.1, generator.states, body))
    return actors


def program(actors: list[FuzzActor]) -> str:
    bodies = "\n".join(actor.text() for actor in actors)
    loop = f"    for (int seed = 1; seed <= {RUNS}; ++seed)\n"
    calls = "".join(f'{loop}        run("{actor.name}", {actor.name}, seed);\n' for actor in actors)
    return f"{PRELUDE}\n{bodies}\n{RUNNER}\nint main() {{\n{calls}}}\n"


def expected(actors: list[FuzzActor]) -> str:
    return "".join(line + "\n" for actor in actors for seed in range(1, RUNS + 1) for line in actor.expect(seed))


def main() -> None:
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    actors = generate(seed, count)
    (folder / f"fuzz{seed}.actor.cpp").write_text(program(actors), encoding="utf-8")
    (folder / f"fuzz{seed}.expected").write_text(expected(actors), encoding="utf-8")


if __name__ == "__main__":
    main()
