"""Runs tasks in processes of their own, so that a crash is an answer like any other.

`answers()` is the caller's side. It starts a worker, a module that calls `serve()`. Task and
answers are JSON:

    {"begin": 0}                         a task begins; the number of bytes in stderr
    {"line": "x = …"}                    a line that the task is about to run
    {"dropped": true}                    the last line failed, and is no part of the task any more
    {"struct": …}                        a struct that it looks at, or lends
    {"status": "broken", "seen": …}      how the task ended
    {"version": "1.0"}                   anything else concerns all tasks

The worker forks a process that does the tasks one after the other. It ends with the first one that
fails, which is done again in a process of its own, and the rest goes on in another. Without fork()
the worker does them itself, and another one goes on behind a task that failed.
"""

import faulthandler
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile

CRASHED = "crashed"
FAILED = (CRASHED, "broken")
SECONDS = 60  # that a task may take
ALIKE = 2  # cases of a group that may fail before the others are left out


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
        pipes = {"stdin": given, "stdout": subprocess.PIPE, "stderr": errors, "text": True}
        worker = subprocess.Popen(command, **pipes, env=environment())
        begun, seen = None, {"lines": []}
        try:
            for answer in map(json.loads, worker.stdout):
                if "begin" in answer:
                    begun, seen = answer["begin"], {"lines": []}
                elif "line" in answer:
                    seen["lines"].append(answer["line"])
                elif "dropped" in answer:
                    seen["lines"].pop()
                elif "struct" in answer:
                    seen["struct"] = answer["struct"]
                elif "status" in answer:
                    if answer["status"] == CRASHED:
                        answer["errors"] = _text_from(errors, begun)
                    begun = None
                    yield True, {**seen, **answer}
                    seen = {"lines": []}
                else:
                    yield False, answer
        except GeneratorExit:  # the caller wants no more
            worker.kill()
            raise
        finally:
            worker.stdout.close()
            worker.wait()
        if begun is not None:
            status = {"status": CRASHED, "seen": f"exit status {worker.returncode}"}
            yield True, {**seen, **status, "errors": _text_from(errors, begun)}


def _text_from(file, position):
    """The first five lines of a file from a position on."""
    file.seek(position or 0)
    return "\n".join(file.read().splitlines()[:5])


class Worker:
    """The worker's side. Making one redirects stdout, since what libraries print is no answer."""

    def __init__(self):
        self.tasks = [json.loads(line) for line in sys.stdin]
        self._answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def answer(self, **fields):
        self._send(_encoded(fields))

    def _send(self, *messages):
        self._answers.writelines(messages)
        self._answers.flush()

    def serve(self, work, group=None, may_fork=True):
        """Call work(answer, *task) for each task, and end the process. work() returns whether the
        task failed. group(*task) tells which tasks are alike: when some have failed, the others are
        left out. None: no task is left out."""
        self._failures, self._group = {}, group
        if may_fork and hasattr(os, "fork"):
            gc.collect()
            gc.freeze()  # makes collections in the children fast
            self._fork(work)
        else:
            self._share(work)
        self._answers.flush()
        os._exit(0)  # skips the exit handlers of libraries

    def _share(self, work):
        for task in self.tasks:
            self.answer(begin=_written())
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            failed = work(self.answer, *task)
            faulthandler.cancel_dump_traceback_later()
            if failed:
                break

    def _fork(self, work):
        rest = list(self.tasks)
        while rest:
            done = 0
            for messages, status in _in_child(work, rest, self._is_left_out):
                if status in FAILED and done:
                    (alone,) = _in_child(work, [rest[done]])
                    if alone[1] in FAILED or status != CRASHED:
                        messages, status = alone
                self._send(*(messages if status in FAILED else messages[-1:]))
                if status in FAILED and self._group:
                    key = self._group(*rest[done])
                    self._failures[key] = self._failures.get(key, 0) + 1
                done += 1
            rest = rest[done:]

    def _is_left_out(self, task):
        return bool(self._group) and self._failures.get(self._group(*task), 0) >= ALIKE


def _encoded(fields):
    return json.dumps(fields).encode() + b"\n"


def _written():
    """How many bytes stderr has, which is a file."""
    return os.fstat(2).st_size


def _in_child(work, tasks, is_left_out=lambda task: False):
    """Do tasks in a forked process. Yields (messages, status) of each, until one has failed."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        _do(work, tasks, is_left_out, lambda **fields: os.write(outgoing, _encoded(fields)))
        os._exit(0)
    os.close(outgoing)
    messages, any_, in_time = [], False, True
    for line in _lines(incoming):
        if line is None:
            in_time = False
            os.kill(child, signal.SIGKILL)
            break
        messages.append(line)
        if line.startswith(b'{"status"'):
            any_ = True
            yield messages, json.loads(line)["status"]
            messages = []
    os.close(incoming)
    _, status = os.waitpid(child, 0)
    if messages or not any_:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        seen = signal.Signals(number).name if number else f"exit status {status >> 8}"
        seen = seen if in_time else f"did not end in {SECONDS} s"
        yield [*messages, _encoded({"status": CRASHED, "seen": seen})], CRASHED


def _do(work, tasks, is_left_out, answer):
    for task in tasks:
        answer(begin=_written())
        if is_left_out(task):
            answer(status="not applicable", seen="not tried: such cases have failed", lines=[])
        elif work(answer, *task):
            break
        gc.freeze()


def _lines(descriptor):
    """Yield lines until the other end is closed; None if there is none in time."""
    rest = b""
    while True:
        ready, _, _ = select.select([descriptor], [], [], SECONDS)
        part = os.read(descriptor, 1 << 16) if ready else b""
        if not ready:
            yield None
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in lines)
