"""A program with the output of a simulation program. The name of the test selects its misbehaviour."""

import json
import os
import signal
import sys
import time

FAULTS = ["clog", "diskFull", "diskLostWrite", "powerLoss", "processKill"]
# What is injected in "faulty", in this order.
INJECTIONS = ["clog", "diskFull", "clog", "powerLoss", "clog", "diskLostWrite", "diskFull", "processKill"]
CULPRITS = {(3, "powerLoss"), (5, "diskLostWrite")}
TESTS = ["good", "bad", "mixed", "leaky", "restless", "slow", "slowly-bad", "faulty", "stubborn"]


def misbehave(seed):
    if seed == 3:
        sys.stderr.write(f"flow: assertion failed: x is {seed} [x == 0] at /a/b{seed}/queue.cpp:{seed}\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGABRT)
    if seed == 5:
        time.sleep(60)
    if seed == 7:
        print("what is this 77?", flush=True)
    if seed == 9:
        os._exit(0)
    if seed == 11:
        return {"signature": "balance is #", "text": "balance is 11\nand more"}
    if seed == 12:
        print('{"seed":13}', flush=True)
    if seed == 14:
        sys.stderr.write("==9==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc\n")
        sys.stderr.write("SUMMARY: AddressSanitizer: heap-use-after-free /a/b.cpp:9:1 in f(int)\n")
        sys.stderr.flush()
        os._exit(1)
    return None


def injections(arguments):
    only = arguments.get("--only")
    if only is None:
        return list(enumerate(INJECTIONS))
    found = []
    for i, kind in enumerate(INJECTIONS):
        number = INJECTIONS[:i].count(kind)
        for item in only.split(","):
            name, _, numbers = item.partition(":")
            first, _, last = numbers.partition("..")
            if name == kind and (not numbers or int(first) <= number <= int(last or first)):
                found.append((i, kind))
    return found


def injected(faults):
    return ",".join(f"{kind}:{INJECTIONS[:i].count(kind)}" for i, kind in sorted(faults, key=lambda fault: fault[1]))


def run(test, seed, arguments):
    faults = injections(arguments) if test == "faulty" else [(0, "clog")] * (seed % 2)
    failure = misbehave(seed) if test == "mixed" else None
    if test in ("bad", "slowly-bad") or (test == "faulty" and set(faults) >= CULPRITS):
        failure = {"signature": "lost # records", "text": f"lost {seed} records"}
    if test in ("slow", "slowly-bad"):
        time.sleep(0.02)
    if test == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(f"{__file__}.stubborn", "w").close()
        time.sleep(60)
    names = [kind for _, kind in faults]
    return {
        "seed": seed,
        "digest": f"{seed if test != 'restless' else time.monotonic_ns():016x}",
        "events": 10,
        "seconds": 1.5,
        "faults": {kind: names.count(kind) for kind in names},
        "injected": injected(faults),
        "probes": ["x.cpp:1 seen"],
        "failure": failure,
    }


def main():
    if sys.argv[1] == "--list":
        for test in TESTS:
            print(json.dumps({"name": test, "limit": 60}))
        for probe in ("x.cpp:1 seen", "x.cpp:2 never seen"):
            print(json.dumps({"probe": probe}))
        for fault in FAULTS:
            print(json.dumps({"fault": fault}))
        return 0
    words = [word for word in sys.argv[1:] if word != "--once"]
    arguments = dict(zip(words[::2], words[1::2], strict=True))
    first, last = map(int, arguments["--seeds"].split(".."))
    test = arguments["--run"]
    failed = False
    for seed in range(first, last + 1):
        print(json.dumps({"begin": seed}), flush=True)
        result = run(test, seed, arguments)
        failed |= result["failure"] is not None
        print(json.dumps(result), flush=True)
    return 23 if test == "leaky" and first <= 4 <= last else int(failed)


sys.exit(main())
