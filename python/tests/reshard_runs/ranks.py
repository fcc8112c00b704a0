"""Processes that each run what the test tells them, one call at a time."""

import itertools
import multiprocessing
import os
import signal
import time
import types
import typing

PATIENCE = 60  # seconds until a test gives up; nothing waits for them otherwise
FOREVER = 1000.0  # a timeout that no test waits for

_numbers = itertools.count()


class Raised(typing.NamedTuple):
    """What a call raised, as its process answers it."""

    kind: str
    text: str


class Rank:
    """A process, started by any method, that runs functions of an importable module.

    Each gets a namespace that lasts as long as the process, and the arguments.
    """

    def __init__(self, method="fork"):
        context = multiprocessing.get_context(method)
        self._channel, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.pid = self.process.pid

    def begin(self, function, *arguments):
        self._channel.send((function, arguments))

    def result(self):
        """What the function that was begun first returned, or a Raised."""
        assert self._channel.poll(PATIENCE), "no answer"
        return self._channel.recv()

    def call(self, function, *arguments):
        self.begin(function, *arguments)
        return self.result()

    def wait_asleep(self):
        """Wait until the process waits, be it for the next call or in the one that it runs."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with open(f"/proc/{self.pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "S":
                    return
            time.sleep(0.005)
        raise AssertionError("the process does not wait")

    def stop(self):
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def resume_until_result(self):
        """The result of a function that stops its own process."""
        deadline = time.monotonic() + PATIENCE
        while not self._channel.poll(0.01):
            assert time.monotonic() < deadline, "no answer"
            self.resume()
        return self.result()

    def interrupt(self):
        os.kill(self.pid, signal.SIGINT)

    def kill(self):
        self.process.kill()
        self.process.join()

    def end(self):
        """Let the process end by itself. Kill it if it does not."""
        if self.process.is_alive():
            self.resume()
            try:
                self._channel.send(None)
                self.process.join(PATIENCE)
            except OSError:
                pass
            self.kill()
        self._channel.close()


def unique_name():
    """A name that no other test, nor another run of the tests, uses."""
    return f"test {os.getpid()} {next(_numbers)}"


def call_all(ranks, function, arguments):
    """Call the function in each process at once, with its own arguments. Return their results."""
    for rank, own in zip(ranks, arguments, strict=True):
        rank.begin(function, *own)
    return [rank.result() for rank in ranks]


def _serve(channel):
    kept = types.SimpleNamespace()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            call = channel.recv()
        except EOFError:
            return
        except KeyboardInterrupt:
            continue
        if call is None:
            return
        function, arguments = call
        try:
            answer = function(kept, *arguments)
        except BaseException as error:
            answer = Raised(type(error).__name__, str(error))
        channel.send(answer)
