"""Runs tasks in processes of their own, so that a crash is an answer like any other.

`answers()` is the caller's side. It starts a worker, a module that calls `serve()`, which does each
task in a forked process. Task and answers are JSON:

    {"begin": true}                      a task begins
    {"line": "x = …"}                    a line that the task is about to run
    {"struct": …}                        a struct that it looks at, or lends
    {"status": "broken", "seen": …}      how the task ended
    {"version": "1.0"}                   anything else concerns all tasks

Without fork() a task that fails ends the worker, and another one goes on behind it.
"""

import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

CRASHED = "crashed"
SECONDS = 60  # that a task may take


def answers(module, arguments, tasks):
    """Yield (task, answer) for each task in order, and (None, answer) for what concerns them all.

    The answer of a task has its "lines" and its last "struct", if it has one; that of a crashed one
    also "errors", what was written to stderr. An answer with "problem" is the last one.
    """
    while tasks:
        done = 0
        for is_result, answer in _answers_of_worker(module, arguments, tasks):
            yield (tasks[done] if is_result else None), answer
            done += is_result
            if "problem" in answer:
                return
        if not done:
            yield None, {"problem": "the process that imports it ends without an answer"}
            return
        tasks = tasks[done:]


def environment():
    """The environment variables of a worker."""
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Streams beyond this number share a queue of the device, and wait for each other.
    variables["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"
    return {**os.environ, **variables}


def _answers_of_worker(module, arguments, tasks):
    """Yield (whether a task's, answer) until the worker ends. A task that ended it has crashed."""
    command = [sys.executable, "-m", module, *arguments]
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as given:
        given.write("".join(json.dumps(task) + "\n" for task in tasks))
        given.seek(0)
        worker = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment(),
        )
        begun, seen, end_of_errors = False, {}, 0
        try:
            for answer in map(json.loads, worker.stdout):
                if "begin" in answer:
                    begun, seen = True, {"lines": []}
                    end_of_errors = errors.seek(0, os.SEEK_END)
                elif "line" in answer:
                    seen["lines"].append(answer["line"])
                elif "struct" in answer:
                    seen["struct"] = answer["struct"]
                elif "status" in answer:
                    if answer["status"] == CRASHED:
                        answer["errors"] = _text_from(errors, end_of_errors)
                    begun = False
                    yield True, {**seen, **answer}
                else:
                    yield False, answer
        except GeneratorExit:  # the caller wants no more
            worker.kill()
            raise
        finally:
            worker.stdout.close()
            worker.wait()
        if begun:
            text = _text_from(errors, end_of_errors)
            status = f"exit status {worker.returncode}"
            yield True, {**seen, "status": CRASHED, "seen": status, "errors": text}


def _text_from(file, position):
    """The first five lines of a file from a position on."""
    file.seek(position)
    return "\n".join(file.read().splitlines()[:5])


class Worker:
    """The worker's side. Making one redirects stdout, since what libraries print is no answer."""

    def __init__(self):
        self.tasks = [json.loads(line) for line in sys.stdin]
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def answer(self, **fields):
        _write(self._answers, fields)

    def serve(self, work, may_fork=True):
        """Call work(answer, *task) for each task, and end the process.

        work() returns whether the task failed: without fork() the process ends with it, so that
        what it has spoilt harms no other.
        """
        for task in self.tasks:
            self.answer(begin=True)
            if may_fork and hasattr(os, "fork"):
                _write(self._answers, *_in_child(work, task))
                continue
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            failed = work(self.answer, *task)
            faulthandler.cancel_dump_traceback_later()
            if failed:
                break
        self._answers.flush()
        os._exit(0)  # skips the exit handlers of libraries


def _write(file, *answers):
    for answer in answers:
        file.write(json.dumps(answer) + "\n")
    file.flush()


def _in_child(work, task):
    """Return the answers of a task that is done in a forked process."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        with os.fdopen(outgoing, "w") as pipe:
            work(lambda **fields: _write(pipe, fields), *task)
        os._exit(0)
    os.close(outgoing)
    text, in_time = _read_all(incoming)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    os.close(incoming)
    _, status = os.waitpid(child, 0)
    received = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number or not (received and "status" in received[-1]):
        seen = signal.Signals(number).name if number else f"exit status {status >> 8}"
        before = [answer for answer in received if "status" not in answer]
        seen = seen if in_time else f"did not end in {SECONDS} s"
        return [*before, {"status": CRASHED, "seen": seen}]
    return received


def _read_all(descriptor):
    """Read until the other end is closed. Returns (text, whether that was in time)."""
    parts, end = [], time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0, end - time.monotonic()))
        if not ready:
            return b"".join(parts).decode(), False
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts).decode(), True
        parts.append(part)
