"""Pending computations, read from the memory of a process or of a core file: what waits for what.

It runs none of the program's code, and it is written for no particular debugger: what one can do stands in Target.
Where members stand and what constants are, the program's debug information says, which the library has in every build.
The rules are those of flow/inspect/ (frames.cpp, code.cpp), which prints the same from inside of the program.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from millrace.debugger import names
from millrace.debugger.target import Layout, Target, Unreadable

FIBER = "flow::fiber::detail::Fiber"
CHUNK, HEAP = "flow::memory::detail::Chunk", "flow::memory::detail::ThreadHeap"
_MOST_HOLDERS = 8
_MOST_KINDS = 50
_FOREIGN_CLASS = 46  # of a task's block, which begins with a ForeignBlock: flow/memory/fast_allocator.h
_PADDED_CLASS = 47  # of a cell with padding in front
_HEADER_BYTES = 16  # of both
_PADDINGS = {_FOREIGN_CLASS: "flow::memory::ForeignBlock", _PADDED_CLASS: "flow::memory::PaddedBlock"}
_OPERATION_BYTES = 64  # of an operation's state in which the lock is looked for


def block_bytes(size_class: int) -> int:
    """As flow/memory/fast_allocator.h computes it."""
    if size_class <= 32:
        return size_class * 16
    log, quarter = divmod(size_class - 33, 4)
    return (1 << (9 + log)) + (quarter + 1) * (1 << (7 + log))


def places(data: bytes, word: bytes) -> Iterator[int]:
    """Where the word stands, which is aligned."""
    at = data.find(word)
    while at >= 0:
        if at % 8 == 0:
            yield at
        at = data.find(word, at + 1)


def printable(data: bytes) -> str:
    text = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in data[:200])
    return f'"{text}"{"..." if len(data) > 200 else ""}'


@dataclass(frozen=True)
class Wait:
    kind: str
    text: str
    computation: int = 0  # the frame that is waited for
    cell: int = 0  # a promise's or a stream's
    operation: int = 0  # its state


@dataclass
class Frame:
    address: int
    begin: int  # of the block
    end: int
    thread: int
    now: float = 0.0
    waits: list[Wait] = field(default_factory=list)
    awaiters: list[int] = field(default_factory=list)  # frames, or what else waits for it


def string_at(target: Target, address: int) -> str:
    """The text that ends with a zero."""
    text = b""
    while b"\0" not in text and len(text) < 4096:
        text += target.read(address + len(text), 1)
    return text.rstrip(b"\0").decode(errors="replace")


class Pending:
    """The unfinished computations of a process."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.layout = Layout(target)
        self._codes: dict[int, names.Code] = {}
        self.frames: dict[int, Frame] = {}

    def find_all(self) -> None:
        for thread, heap, now in self.target.heaps():
            for frame in self._frames_of(thread, heap):
                self.frames[frame.address] = frame
                frame.now = now
        self._add_reachable()

    # -- reading ------------------------------------------------------------------------------------------------------

    def _word(self, address: int) -> int:
        return int.from_bytes(self.target.read(address, 8), "little")

    def _small(self, address: int, size: int) -> int:
        return int.from_bytes(self.target.read(address, size), "little")

    def code_at(self, address: int) -> names.Code | None:
        """The function at the address; None for what is no function."""
        if address not in self._codes:
            symbol = self.target.symbol(address) if address else ""
            self._codes[address] = names.Code(symbol, self.target.has_function)
        code = self._codes[address]
        return code if code.symbol else None

    def _frames_of(self, thread: int, heap: int) -> Iterator[Frame]:
        target = self.target
        spans = target.offset_of(CHUNK, "spans")
        next_chunk = target.offset_of(CHUNK, "next")
        span_bytes = target.size_of(f"{CHUNK}::Span")
        capacity = target.offset_of(f"{CHUNK}::Span", "capacity")
        size_class = target.offset_of(f"{CHUNK}::Span", "sizeClass")
        chunk_bytes = target.constant(f"{CHUNK}::kBytes")
        whole = target.constant(f"{CHUNK}::kBytesOfSpan")
        header = target.constant(f"{CHUNK}::kHeader")
        chunk = self._word(heap + target.offset_of(HEAP, "chunks_"))
        while chunk:
            data = target.read(chunk, chunk_bytes)
            for i in range(chunk_bytes // whole):
                span = spans + i * span_bytes
                count = int.from_bytes(data[span + capacity : span + capacity + 2], "little")
                if count == 0:
                    continue
                bytes_each = block_bytes(data[span + size_class])
                first = header if i == 0 else i * whole
                for block in range(first, first + count * bytes_each, bytes_each):
                    at = self._frame_in(data, block, bytes_each, data[span + size_class])
                    if at:
                        yield Frame(chunk + at, chunk + block, chunk + block + bytes_each, thread)
            chunk = int.from_bytes(data[next_chunk : next_chunk + 8], "little")

    def _frame_in(self, data: bytes, block: int, size: int, size_class: int) -> int:
        """Where in `data` the block's frame begins; 0: there is none."""
        layout = self.layout
        for prefix in range(0, size - layout.cell_bytes - layout.waiter_bytes + 1, 16):
            cell = block + prefix
            units = cell + layout.prefix_units
            before = (data[units] | data[units + 1] << 8) * 16
            header = _PADDINGS.get(data[cell + layout.size_class])
            if header and before + _HEADER_BYTES <= prefix:
                padding = cell - before - _HEADER_BYTES + self.target.offset_of(header, "padding")
                before += data[padding] | data[padding + 1] << 8
            if before != prefix or not (header or data[cell + layout.size_class] == size_class):
                continue
            frame = cell + layout.cell_bytes
            if self._is_unfinished(data, cell) and self._has_code(data[frame : frame + layout.waiter_bytes]):
                return frame
        return 0

    def _is_unfinished(self, data: bytes, cell: int) -> bool:
        layout = self.layout
        promises = int.from_bytes(data[cell + layout.promises : cell + layout.promises + 4], "little")
        status = data[cell + layout.flags] & (layout.is_ready | layout.is_error | layout.has_frame)
        return status == layout.has_frame and 0 < promises < 1 << 20 and data[cell + layout.size_class] != 0

    def _has_code(self, waiter: bytes) -> bool:
        resume, destroy = (
            int.from_bytes(waiter[at : at + 8], "little") for at in (self.layout.resume, self.layout.destroy)
        )
        return self.code_at(resume) is not None and (destroy == 0 or self.code_at(destroy) is not None)

    def is_frame(self, address: int) -> bool:
        cell = address - self.layout.cell_bytes
        try:
            data = self.target.read(cell, self.layout.cell_bytes + self.layout.waiter_bytes)
        except Unreadable:
            return False
        return self._has_code(data[self.layout.cell_bytes :]) and self._is_unfinished(data, 0)

    # -- what waits for what ------------------------------------------------------------------------------------------

    def _links(self, head: int) -> Iterator[int]:
        """The waiters in a list."""
        link = self._word(head)
        for _ in range(1 << 20):
            if link in (head, 0):
                return
            yield link - self.layout.link
            link = self._word(link)

    def _owner(self, waiter: int) -> int:
        """The frame of a waiter in a list: itself, or that of the choose of which it is a branch; 0 for others."""
        if waiter in self.frames or self.is_frame(waiter):
            return waiter
        code = self.code_at(self._word(waiter + self.layout.resume))
        if code is None or not code.is_branch:
            return 0
        choose = self._word(waiter + self.layout.destroy)
        return self._word(choose + self.target.offset_of("flow::detail::ChooseBase", "frame_"))

    def _add_reachable(self) -> None:
        """Frames in blocks that are not walked are found by what waits for them, and by what they wait for."""
        fresh = list(self.frames.values())
        while fresh:
            found: dict[int, Frame] = {}
            for frame in fresh:
                frame.waits = list(self._waits_of(frame))
                reached = [owner for w in self._waiters_of(frame.address) if (owner := self._owner(w))]
                reached += [wait.computation for wait in frame.waits if wait.computation]
                for wait in frame.waits:
                    if wait.cell:
                        reached += [
                            owner for w in self._links(wait.cell + self.layout.waiters) if (owner := self._owner(w))
                        ]
                for address in reached:
                    if address not in self.frames and address not in found and self.is_frame(address):
                        begin = address - self.layout.cell_bytes
                        found[address] = Frame(
                            address, begin, address + self.layout.waiter_bytes, frame.thread, frame.now
                        )
            self.frames.update(found)
            fresh = list(found.values())
        for frame in self.frames.values():
            frame.awaiters = [self._owner(waiter) or waiter for waiter in self._waiters_of(frame.address)]
        for frame in self.frames.values():  # a task that waits for its children stands in no list of theirs
            for wait in frame.waits:
                awaited = self.frames.get(wait.computation)
                if awaited and frame.address not in awaited.awaiters:
                    awaited.awaiters.append(frame.address)

    def _waiters_of(self, frame: int) -> Iterator[int]:
        return self._links(frame - self.layout.cell_bytes + self.layout.waiters)

    def _is_task(self, frame: int) -> bool:
        return self._small(frame - self.layout.cell_bytes + self.layout.size_class, 1) == _FOREIGN_CLASS

    def _children(self, node: int, *, in_hooks: bool) -> Iterator[tuple[int, int]]:
        """The frames of the tasks and forks below a node, with their flags."""
        layout = self.layout
        for waiter in self._links(node + layout.tasks.children):
            child = waiter + layout.link - layout.tasks.sibling
            flags = self._small(child + layout.tasks.node_flags, 4)
            if not flags & layout.tasks.is_hook:
                yield child - layout.tasks.node, flags
            elif in_hooks:
                yield from self._children(child, in_hooks=True)

    def _awaited_children(self, task: int) -> list[int]:
        """As forEachChild() of flow/inspect/frames.cpp finds them."""
        layout = self.layout
        node = task + layout.tasks.node
        flags = self._small(node + layout.tasks.node_flags, 4)
        if flags & (layout.tasks.ending | layout.tasks.joining):
            return [child for child, _ in self._children(node, in_hooks=bool(flags & layout.tasks.ending))]
        word = self._word(task + layout.awaited)
        if flags & layout.tasks.joins_hook and word & layout.mask == layout.turn and word > layout.last_mark:
            return [child for child, _ in self._children(word & ~(layout.mask | layout.propagates), in_hooks=True)]
        if flags & layout.tasks.awaits_child:
            return [child for child, of in self._children(node, in_hooks=True) if of & layout.tasks.parent_waits]
        return []

    def _waits_of(self, frame: Frame) -> Iterator[Wait]:
        layout = self.layout
        if self._is_task(frame.address) and (children := self._awaited_children(frame.address)):
            text = f"the end of {len(children)} children" if len(children) > 1 else self.title(children[0])
            for child in children:
                yield Wait("a computation", text, computation=child)
                text = ""
            return
        word = self._word(frame.address + layout.awaited)
        if word and word & layout.mask == layout.group:
            group = word & ~layout.mask
            branches = self._word(group + self.target.offset_of("flow::detail::BranchGroup", "branches"))
            count = self._small(group + self.target.offset_of("flow::detail::BranchGroup", "count"), 4)
            for i in range(count):
                branch = branches + i * layout.waiter_bytes
                if self._word(branch + layout.link):
                    yield self._wait_of(branch, frame.now)
        else:
            yield self._wait_of(frame.address, frame.now)

    def _wait_of(self, waiter: int, now: float) -> Wait:
        layout = self.layout
        word = self._word(waiter + layout.awaited)
        kind = word & layout.mask
        if word == 0:
            following = self._word(waiter + layout.link)
            if following == 0:
                return Wait("nothing, since it runs", "nothing, since it runs")
            is_queued = following != waiter + layout.link
            if is_queued:
                return Wait("its turn", "its turn")
            return self._wait_of_operation(waiter)
        if kind == layout.timer:
            slot = (word & ~layout.mask) + self.target.offset_of("flow::detail::TimerSlot", "deadline")
            (deadline,) = struct.unpack("<d", self.target.read(slot, 8))
            return Wait("a delay", f"a delay until {deadline:.9g} ({deadline - now:.6g} s after its loop's last turn)")
        if kind == layout.turn:
            if word <= layout.last_mark:
                return Wait("its turn", "its turn")
            operation = word & ~(layout.mask | layout.propagates)
            return Wait("an operation", self._operation_text(waiter, operation), operation=operation)
        return self._wait_for_cell(word & ~layout.propagates)

    def _wait_of_operation(self, frame: int) -> Wait:
        """Of an owning one: its state follows its frame, which is padded to 16 bytes."""
        kind = "what completes it"
        code = self.code_of(frame)
        state = frame + (self.layout.waiter_bytes + 15) // 16 * 16
        text = f"{kind} (*({code.type_name}*){state:#x})" if code.type_name else kind
        return Wait(kind, text, operation=state)

    def _wait_for_cell(self, cell: int) -> Wait:
        layout = self.layout
        flags = self._small(cell + layout.flags, 1)
        if flags & layout.has_frame:
            frame = cell + layout.cell_bytes
            return Wait("a computation", self.title(frame), computation=frame)
        is_stream = flags & (layout.uncancellable | layout.has_frame) == layout.uncancellable
        what = "a stream" if is_stream else "a promise"
        promises = self._small(cell + layout.promises, 4)
        if flags & layout.never:
            text = "what is never ready"
        elif is_stream:
            text = f"a stream with {promises} sender{'s' * (promises != 1)}" if promises else f"{what} without a sender"
        elif promises == 0:
            text = f"{what} that nothing can set"
        else:
            text = what if promises == 1 else f"{what} that {promises} hold"
        return Wait(what, f"{text} ({cell:#x})", cell=cell)

    def _operation_text(self, waiter: int, operation: int) -> str:
        """The source at which the operation is parked has its type: see SourceBase::codeOf()."""
        unknown = f"an operation at {operation:#x}"
        source = "flow::detail::SourceBase"
        try:
            waiters, turn = (self.target.offset_of(source, name) for name in ("waiters_", "turn_"))
        except Unreadable:  # the program has no debug information of sources
            return unknown
        link = self._word(waiter + self.layout.link)
        for _ in range(1 << 20):
            if link in (0, waiter + self.layout.link):
                break
            begin = link - waiters
            try:
                is_source = self._word(begin + turn + self.layout.destroy) == begin
                resume = self._word(begin + turn + self.layout.resume) if is_source else 0
            except Unreadable:
                break
            if resume and (code := self.code_at(resume)):
                return f"{code.name} (*({code.type_name}*){operation:#x})"
            link = self._word(link)
        return unknown

    # -- text ---------------------------------------------------------------------------------------------------------

    def code_of(self, frame: int) -> names.Code:
        code = self.code_at(self._word(frame + self.layout.resume))
        return code or names.Code("", self.target.has_function)

    def _kept_place(self, frame: int) -> int:
        """The std::source_location that the frame of a fiber or of a coroutine keeps."""
        style = self.code_of(frame).style
        if style == "fiber":
            return self._word(frame + self.target.offset_of(FIBER, "where_"))
        if style == "coroutine":  # as flow/core/detail/wait_place.h says
            code = self._word(frame + self.layout.resume)
            low = self._small(frame - self.layout.cell_bytes + self.layout.error, 4)
            place = code + (low - code + (1 << 31)) % (1 << 32) - (1 << 31)
            return place if place % 8 == 0 and self._is_readable(place) else 0
        return 0

    def _is_readable(self, address: int) -> bool:
        try:
            return bool(self._string(self._word(address)))
        except Unreadable:
            return False

    def place_of(self, frame: int) -> str:
        """FILE:LINE of the wait of an actor, fiber, coroutine or task; else empty."""
        if kept := self._kept_place(frame):
            line = self._small(kept + 16, 4)  # behind the names of the file and of the function
            return f"{self._file(self._word(kept))}:{line}" if line else ""
        code = self.code_of(frame)
        waits = self.target.address_of(code.waits_symbol) if code.waits_symbol else 0
        if not waits:
            return ""
        table = "flow::inspect::WaitTable"
        entry = self._small(frame + self.target.offset_of("flow::actor::NumberedFrame", "entry_"), 4)
        if entry >= self._small(waits + self.target.offset_of(table, "count"), 4):
            return ""
        line = self._small(waits + self.target.offset_of(table, "lines") + 4 * entry, 4)
        return f"{self._file(self._word(waits + self.target.offset_of(table, 'file')))}:{line}"

    def _file(self, name: int) -> str:
        return self._string(name).rpartition("/")[2]

    def name_of(self, frame: int) -> str:
        code = self.code_of(frame)
        if code.style != "fiber":
            return code.name
        return f'"{self._string(self._word(frame + self.target.offset_of(FIBER, "name_")))}"'

    def _string(self, address: int) -> str:
        return string_at(self.target, address)

    def title(self, frame: int) -> str:
        place = self.place_of(frame)
        style = self.code_of(frame).style
        if style == "coroutine" and self._is_task(frame):
            style = "task"
        return f"{style} {self.name_of(frame)}{' at ' if place else ''}{place}"

    def _words_of(self, frame: Frame) -> bytes:
        """The memory of a frame behind what each of them begins with."""
        begin = frame.address + self.layout.waiter_bytes
        return self.target.read(begin, frame.end - begin) if frame.end > begin else b""

    def promise_holders(self, cell: int) -> list[int]:
        """Frames in which the cell's address stands, other than those that wait for it.

        A word may be a Future as well as a Promise. The cell counts the futures: as many of the frames may have one as
        there are futures that are neither parked waiters nor in frames that wait.
        """
        word = cell.to_bytes(8, "little")
        known = len(list(self._links(cell + self.layout.waiters)))
        found = []
        for frame in self.frames.values():
            count = len(list(places(self._words_of(frame), word)))
            waits = sum(wait.cell == cell for wait in frame.waits)
            if not waits and count:
                found.append(frame.address)
            elif waits:
                own = waits if len(frame.waits) > 1 else 0  # the words of branches
                known += count > own
        futures = self._small(cell + self.layout.futures, 4)
        return found[:_MOST_HOLDERS] if len(found) > futures - min(known, futures) else []

    def lock_holders(self, waiting: Frame, operation: int) -> list[int]:
        """Frames in which an address that the operation has stands with a count behind it, as in a Releaser.

        An address with its lowest bit set is the mark of a holder: see Semaphore::mark().
        """
        end = operation + _OPERATION_BYTES
        if waiting.begin <= operation < waiting.end:
            end = min(end, waiting.end)
        count = (end - operation) // 8
        words = struct.unpack(f"<{count}Q", self.target.read(operation, 8 * count))
        addresses = [word for word in words if word >= 1 << 16 and word % 8 == 0]
        wanted = [word.to_bytes(8, "little") for word in addresses]
        marks = [(word + 1).to_bytes(8, "little") for word in addresses]
        resume = self._word(waiting.address + self.layout.resume)
        found = []
        for frame in self.frames.values():
            data = self._words_of(frame)
            if any(True for mark in marks for _ in places(data, mark)):
                found.append(frame.address)
                continue
            if self._word(frame.address + self.layout.resume) == resume:
                continue  # another one that waits
            behind = [data[at + 8 : at + 16] for word in wanted for at in places(data, word)]
            if any(0 < int.from_bytes(held, "little") < 1 << 31 for held in behind):
                found.append(frame.address)
        return found[:_MOST_HOLDERS]

    def waits_text(self, frame: Frame) -> str:
        texts = []
        for wait in frame.waits:
            if not (text := wait.text):
                continue
            if wait.operation and (holders := self.lock_holders(frame, wait.operation)):
                text += f", held by {', '.join(self.title(holder) for holder in holders)}"
            if wait.cell and (holders := self.promise_holders(wait.cell)):
                text += f", to which {', '.join(self.title(h) for h in holders)} refer{'s' * (len(holders) == 1)}"
            texts.append(text)
        if not texts:
            return "has nothing left to wait for"
        return f"waits for {'one of: ' * (len(texts) > 1)}{'; '.join(texts)}"

    def tree(self, limit: int) -> Iterator[str]:
        """Lines: each computation below the one that waits for it."""
        threads = sorted({frame.thread for frame in self.frames.values()})
        where = f" in the memory of {len(threads)} threads" if len(threads) > 1 else ""
        yield f"{len(self.frames)} computation{' is' if len(self.frames) == 1 else 's are'} pending{where}"
        if len(self.frames) > limit:
            yield from self.kinds()
            yield f"the first {limit}:"
        shown: set[int] = set()
        roots = [f for f in self.frames.values() if not any(a in self.frames for a in f.awaiters)]
        for root in (*roots, *self.frames.values()):  # what waits in a cycle has no root
            if root.address in shown:
                continue
            stack = [(root, 0)]
            while stack and len(shown) < limit:
                frame, depth = stack.pop()
                head = f"{'  ' * depth}{frame.address:#x} {self.title(frame.address)}"
                if len(threads) > 1 and depth == 0:
                    head = f"thread {frame.thread}: {head}"
                if frame.address in shown:
                    yield f"{head} (see above)"
                    continue
                shown.add(frame.address)
                yield f"{head} {self.waits_text(frame)}"
                below = [self.frames[w.computation] for w in frame.waits if w.computation in self.frames]
                stack += [(child, depth + 1) for child in reversed(below)]

    def kinds(self) -> Iterator[str]:
        counts: dict[tuple[str, str], int] = {}
        for frame in self.frames.values():
            kind = (self.title(frame.address), frame.waits[0].kind if frame.waits else "nothing")
            counts[kind] = counts.get(kind, 0) + 1
        in_order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for (title, wait), count in in_order[:_MOST_KINDS]:
            yield f"{count:10} x {title} waits for {wait}"
        if len(in_order) > _MOST_KINDS:
            yield f"             and {len(in_order) - _MOST_KINDS} kinds more"

    def _variables(self, frame: int) -> Iterator[str]:
        """Lines: parameters and state variables of a state machine, if the debug information has its class."""
        state = self.code_of(frame).state
        try:
            begin = frame + self.target.offset_of(state.removesuffix("State"), "stateBytes_") if state else 0
            members = list(self.target.members(state, begin)) if state else []
        except Unreadable:
            return
        for name, value in members:
            if not name.endswith("__"):  # as in the names that actorc makes
                yield f"    {name} = {value}"

    def stack(self, address: int) -> Iterator[str]:
        """Lines: a frame, what it waits for, its variables, and the chain of what waits for it."""
        if address not in self.frames:
            raise Unreadable(f"{address:#x} is no frame of a pending computation: flow pending lists them")
        frame = self.frames[address]
        yield f"{self.title(address)} {self.waits_text(frame)}"
        yield from self._variables(address)
        chain = [address]
        for each in chain:
            for awaiter in self.frames[each].awaiters:
                if awaiter in chain:
                    continue
                if awaiter in self.frames:
                    chain.append(awaiter)
                    yield f"  awaited by {awaiter:#x} {self.title(awaiter)}"
                else:
                    yield f"  awaited by {self.code_of(awaiter).name}"
