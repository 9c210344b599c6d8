"""check_perfetto.py PROGRAM: reads the traces that PROGRAM FOLDER writes, with Perfetto's definition of the format, and
that `millrace trace` reads the same."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from millrace.trace.read import document


@dataclass
class Track:
    name: str
    parent: int
    time: int = 0
    open: list[str] = field(default_factory=list)
    slices: Counter[str] = field(default_factory=Counter)
    instants: Counter[str] = field(default_factory=Counter)
    nested: Counter[tuple[str, str]] = field(default_factory=Counter)
    durations: list[int] = field(default_factory=list)


@dataclass
class Read:
    tracks: dict[int, Track]
    starts: dict[int, tuple[int, int, str]]  # by flow: time, track, name
    ends: dict[int, tuple[int, int, str]]

    def track(self, name: str) -> Track:
        (found,) = [track for track in self.tracks.values() if track.name == name]
        return found


def read(file: Path) -> Read:
    trace = perfetto.Trace()
    trace.ParseFromString(file.read_bytes())
    assert trace.SerializeToString(deterministic=True), f"{file} is empty"
    unknown = sum(len(message) for message in unknown_fields(trace))
    assert unknown == 0, f"{file}: {unknown} fields that the format does not have"
    result = Read({}, {}, {})
    names: dict[int, dict[int, str]] = {}
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        assert sequence, "a packet without a sequence"
        if packet.sequence_flags & packet.SEQ_INCREMENTAL_STATE_CLEARED:
            assert sequence not in names, "two traces have one sequence"
            names[sequence] = {}
        for entry in packet.interned_data.event_names:
            names[sequence][entry.iid] = entry.name
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            if descriptor.HasField("process"):
                assert descriptor.process.pid and descriptor.process.process_name
            else:
                result.tracks[descriptor.uuid] = Track(descriptor.name, descriptor.parent_uuid)
        if packet.HasField("track_event"):
            assert packet.sequence_flags & packet.SEQ_NEEDS_INCREMENTAL_STATE
            add(result, packet.timestamp, packet.track_event, names[sequence])
    for track in result.tracks.values():
        assert not track.open, f"slices without an end: {track.open}"
    check_page(document(file.read_bytes()), result)
    return result


def check_page(page: dict[str, Any], trace: Read) -> None:
    """Of `millrace trace`."""
    with_events = [track for track in trace.tracks.values() if track.slices or track.instants]
    titles = [title.rsplit(": ", 1)[-1] for title in page["tracks"]]
    assert sorted(titles) == sorted(track.name for track in with_events)
    for number, title in enumerate(titles):
        found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        for track, _, length, name, *_ in page["rows"]:
            if track == number:
                found[length < 0][page["texts"][name]] += 1
        assert found == (trace.track(title).slices, trace.track(title).instants), title
    assert len(page["arrows"]) == len(trace.starts.keys() & trace.ends.keys())


def unknown_fields(trace: perfetto.Trace) -> list[list[object]]:
    from google.protobuf.unknown_fields import UnknownFieldSet

    messages = [
        trace,
        *trace.packet,
        *(p.track_event for p in trace.packet),
        *(p.track_descriptor for p in trace.packet),
    ]
    messages += [note for p in trace.packet for note in p.track_event.debug_annotations]
    return [list(UnknownFieldSet(message)) for message in messages]


def add(result: Read, time: int, event: perfetto.TrackEvent, names: dict[int, str]) -> None:
    track = result.tracks[event.track_uuid]
    assert time >= track.time, f"{track.name}: time goes back"
    track.time = time
    if event.type == event.TYPE_SLICE_END:
        track.open.pop()
        return
    name = names[event.name_iid]
    for flow in event.flow_ids:
        assert flow not in result.starts, f"flow {flow} starts twice"
        result.starts[flow] = (time, event.track_uuid, name)
    for flow in event.terminating_flow_ids:
        assert flow not in result.ends, f"flow {flow} ends twice"
        result.ends[flow] = (time, event.track_uuid, name)
    if event.type == event.TYPE_SLICE_BEGIN:
        if track.open:
            track.nested[track.open[-1], name] += 1
        track.open.append(name)
        track.slices[name] += 1
        (note,) = event.debug_annotations
        assert note.name == "priority" and note.int_value >= 0
    else:
        assert event.type == event.TYPE_INSTANT
        track.instants[name] += 1


def check_flows(trace: Read, complete: set[int]) -> None:
    """Each ends on the track where it starts, not before; on the tracks of which nothing is lost each task has one."""
    for flow, (time, track, _) in trace.ends.items():
        if flow in trace.starts:
            started, its_track, _ = trace.starts[flow]
            assert its_track == track and started <= time
        else:
            assert track not in complete, "a flow without a start"
    for track in complete:
        ends = sum(1 for _, its_track, _ in trace.ends.values() if its_track == track)
        assert ends == sum(trace.tracks[track].slices.values()), "a task that nothing has made ready"


def check_loops(file: Path) -> None:
    trace = read(file)
    first, second = trace.track("first"), trace.track("second")
    assert first.parent == second.parent
    ids = {track.name: number for number, track in trace.tracks.items()}
    check_flows(trace, {ids["first"]})
    steps = sum(count for name, count in first.slices.items() if name.endswith(("tracedStep", "tracedActor")))
    assert steps >= 21, first.slices
    assert any(outer.endswith("tracedActor") and inner.endswith("tracedStep") for outer, inner in first.nested)
    assert first.instants["timer"] >= 10, first.instants
    assert first.instants["ten steps"] == 1
    assert any(name.startswith("error io_error in ") and name.endswith("failingActor") for name in first.instants)
    assert any(name.startswith("cancel ") and name.endswith("endlessActor") for name in first.instants)
    causes = Counter(name.rsplit("::")[-1] for _, track, name in trace.starts.values() if track == ids["first"])
    assert causes["timer"] >= 10, causes
    assert second.instants["ten steps"] == 1
    assert sum(second.slices.values()) < 64, "more than the ring holds"


def check_world(file: Path) -> None:
    trace = read(file)
    server, client, world = trace.track("server"), trace.track("client"), trace.track("the world")
    assert server.instants["start"] == 2 and server.instants["end"] == 1, server.instants
    assert client.instants["start"] == 1
    assert world.instants["processReboot"] == 1, world.instants
    for process, least in ((server, 14), (client, 18)):
        ticks = sum(count for name, count in process.slices.items() if name.endswith("endlessActor"))
        assert ticks >= least, process.slices
    assert 4.7e9 <= client.time <= 5.1e9, client.time  # the time of the world
    check_flows(trace, {number for number, track in trace.tracks.items() if track.name == "client"})


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="millrace-trace-") as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        check_loops(Path(folder, "loops.pftrace"))
        check_world(Path(folder, "world.pftrace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
