"""dovetail.trace(): every exchange, copy, allocation and wait of a block, with where it came from.

>>> import array
>>> import dovetail as dt
>>> with dt.trace() as log:
...     t = dt.frombuffer(array.array("i", [1, 2]), dtype=dt.int32)
...     u = t.to(dt.float32)
>>> [event.kind for event in log]
['import', 'allocate', 'cast']
>>> len(log.copies()), log.copies()[0].nbytes
(1, 8)
"""

import _thread
import json
import os
import sys
from typing import NamedTuple

from dovetail import _core

_EXCHANGES = ("import", "export", "convert")


class Event(NamedTuple):
    """What happened. None where something is not known or does not apply.

    kind        "import", "export", "convert"; "copy", "cast", "fill", "allocate"; "order" (a stream
                waits for others) or "wait" (the host waits)
    start_ns, duration_ns    of time.monotonic_ns()
    way         an exchange's protocol: "__dlpack__", "NumPy array", ...
    source, target    an exchange's classes; of an export the package that called
    copied      whether an exchange's result has memory of its own; None if it failed
    reason      why it was copied, or failed
    dtype, shape, nbytes, device    the tensor: of a copy the source, with the target's bytes
    to_dtype, to_device    the result
    stream      of a copy the stream that does it, of "order" the one that waits
    awaited     the streams that are waited for
    file, line  of the user's code: not Dovetail's, and if possible not an installed library's
    thread      the system's number of the thread
    """

    kind: str
    start_ns: int
    duration_ns: int
    way: str
    source: str
    target: str
    copied: bool
    reason: str
    dtype: object
    shape: tuple
    nbytes: int
    device: object
    to_dtype: object
    to_device: object
    stream: str
    awaited: tuple
    file: str
    line: int
    thread: int

    @property
    def is_copy(self):
        """Whether elements were copied into other memory, by Dovetail or by a peer.

        A copy or cast with a reason failed. What was done instead has events of its own.
        """
        return self.kind in ("copy", "cast") and not self.reason

    @property
    def where(self):
        """The place in the user's code as "file.py:12", or ""."""
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else ""

    def what(self):
        """In a few words, without the time."""
        if self.kind in _EXCHANGES:
            verdict = {None: "failed", True: "copied", False: "shared"}[self.copied]
            text = f"{self.source or '?'} -> {self.target or '?'}, {verdict}"
        elif self.kind in ("order", "wait"):
            awaited = ", ".join(self.awaited) or "unknown work"
            text = f"{self.stream or 'the host'} after {awaited}"
        else:
            text = _change(self.device, self.to_device)
            if self.kind == "cast":
                text += f", {_change(self.dtype, self.to_dtype)}"
        return text

    def as_dict(self):
        """The fields as values that JSON has."""
        fields = self._asdict()
        for name in ("dtype", "device", "to_dtype", "to_device"):
            if fields[name] is not None:
                fields[name] = str(fields[name]).removeprefix("dovetail.")
        return fields


class Trace:
    """The events of a block, in the order in which they ended. See dovetail.trace()."""

    def __init__(self, limit):
        self._limit = limit
        self._recorder = None
        self._is_running = False

    def __enter__(self):
        if self._is_running:
            raise RuntimeError("this trace has begun already; nest another dovetail.trace()")
        self._recorder = _core._trace_start(self._limit)
        self._is_running = True
        return self

    def __exit__(self, *_):
        if not self._is_running:
            raise RuntimeError("this trace has not begun; use `with dovetail.trace() as log:`")
        self._is_running = False
        _core._trace_stop(self._recorder)

    def __iter__(self):
        return iter(self.events)

    def __len__(self):
        return len(self.events)

    @property
    def events(self):
        """A list of all events so far."""
        return self._read()[0]

    @property
    def left_out(self):
        """The number of events beyond the limit."""
        return self._read()[1]

    def exchanges(self):
        """The imports, exports and conversions."""
        return _exchanges(self.events)

    def copies(self):
        """All that copied elements: copies and casts, and exchanges whose peer made a copy."""
        return _copies(self.events)

    def waits(self):
        """The waits of the host."""
        return [event for event in self if event.kind == "wait"]

    def table(self):
        """The events as text: a row each, and a sum."""
        events, left_out = self._read()
        rows = [("kind", "way", "what", "tensor", "bytes", "us", "where", "why")]
        for e in sorted(events, key=lambda event: event.start_ns):
            us = f"{e.duration_ns / 1000:.1f}"
            where, why = e.where, _shortened(e.reason or "")
            nbytes = f"{e.nbytes:,}"
            rows.append((e.kind, e.way or "", e.what(), _tensor(e), nbytes, us, where, why))
        copies = _copies(events)
        nbytes = sum(copy.nbytes for copy in copies)
        total = f"exchanges: {len(_exchanges(events))}, copies: {len(copies)} of {nbytes:,} bytes"
        if left_out:
            total += f", beyond the limit: {left_out:,} events"
        return "\n".join([*_aligned(rows), total])

    __str__ = table

    def __repr__(self):
        return f"<dovetail.Trace of {len(self)} events>"

    def to_json_lines(self, path):
        """Write the events into a file, a JSON object a line."""
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                file.write(json.dumps(event.as_dict()) + "\n")

    def to_perfetto(self, path):
        """Write the events into a file that ui.perfetto.dev and chrome://tracing show."""
        process = os.getpid()
        slices = [
            {
                "name": f"{event.kind} {event.way}" if event.way else event.kind,
                "cat": event.kind,
                "ph": "X",
                "ts": event.start_ns / 1000,
                "dur": event.duration_ns / 1000,
                "pid": process,
                "tid": event.thread,
                "args": {"what": event.what()} | event.as_dict(),
            }
            for event in self
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": slices, "displayTimeUnit": "ns"}, file)

    def _read(self):
        """The events, and the number of those beyond the limit."""
        if self._recorder is None:
            return [], 0
        events, left_out = _core._trace_events(self._recorder)
        return [Event(*fields) for fields in events], left_out


class NoCopies:
    """See dovetail.no_copies()."""

    def __init__(self):
        self._scopes = {}  # of each thread that is inside, the innermost last

    def __enter__(self):
        scope = _core._no_copies_enter()
        self._scopes.setdefault(_thread.get_ident(), []).append(scope)

    def __exit__(self, *_):
        scopes = self._scopes.get(_thread.get_ident())
        if not scopes and self._scopes:
            raise RuntimeError("no_copies() has to end on the thread that it began on")
        if not scopes:
            raise RuntimeError("this has not begun; use `with dovetail.no_copies():`")
        _core._no_copies_leave(scopes.pop())
        if not scopes:
            del self._scopes[_thread.get_ident()]


def start_from_environment(value):
    """Trace the process until its end, as the environment variable DOVETAIL_TRACE asks for."""
    import atexit

    if value.endswith((".json", ".jsonl")):
        value = os.path.abspath(value)  # the program may go to another folder
        try:
            open(value, "a").close()
        except (OSError, ValueError) as error:  # now, not at the end of the process
            raise ImportError(f"DOVETAIL_TRACE={value!r} can't be written: {error}") from None
    elif value != "1":
        raise ImportError(
            f"DOVETAIL_TRACE={value!r} is none of: 0, 1 (a table at the end of the process), a "
            "file whose name ends in .json or .jsonl"
        )
    log = Trace(1_000_000).__enter__()

    @atexit.register
    def end():
        log.__exit__()
        if value.endswith(".jsonl"):
            log.to_json_lines(value)
        elif value.endswith(".json"):
            log.to_perfetto(value)
        else:
            print(log, file=sys.stderr)


def _exchanges(events):
    return [event for event in events if event.kind in _EXCHANGES]


def _copies(events):
    ours = [event for event in events if event.is_copy]
    return [
        event
        for event in events
        if event.is_copy or (event.copied and not any(_is_within(copy, event) for copy in ours))
    ]


def _is_within(inner, outer):
    return (
        inner.thread == outer.thread
        and outer.start_ns <= inner.start_ns
        and inner.start_ns + inner.duration_ns <= outer.start_ns + outer.duration_ns
    )


def _change(before, after):
    before, after = (str(x).removeprefix("dovetail.") for x in (before, after))
    return before if after in (before, "None") else f"{before} -> {after}"


def _shortened(text):
    return text if len(text) <= 70 else text[:67] + "..."


def _tensor(event):
    if event.dtype is None:
        return ""
    return f"{_change(event.dtype, None)} {list(event.shape)}"


def _aligned(rows):
    right = {4, 5}
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
