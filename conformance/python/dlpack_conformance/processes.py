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
fails, which is done again in a process of its own, and the rest goes on in another. A worker that
may not fork does them itself, and another one goes on behind a task that failed.
"""

import contextlib
import faulthandler
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading

CRASHED = "crashed"
FAILED = (CRASHED, "broken")
SECONDS = 60  # that a line of a task may take
IMPORT_SECONDS = 300  # that a worker may be silent
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
        tasks = tasks[done:]


def environment():
    """The environment variables of a worker."""
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Streams beyond this number share a queue of the device, and wait for each other.
    variables["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"
    return {**os.environ, **variables}


def _answers_of_worker(module, arguments, tasks):
    """Yield (whether a task's, answer) until the worker ends. A task that ended it has crashed. If
    it ended before the first task did, the last answer is a problem."""
    command = [sys.executable, "-m", module, *arguments]
    text = {"mode": "w+", "encoding": "utf-8", "errors": "replace"}
    with tempfile.TemporaryFile(**text) as errors, tempfile.TemporaryFile(**text) as given:
        given.write("".join(json.dumps(task) + "\n" for task in tasks))
        given.seek(0)
        pipes = {"stdin": given, "stdout": subprocess.PIPE, "stderr": errors}
        worker = subprocess.Popen(command, **pipes, env=environment(), start_new_session=True)
        begun, seen, silent, any_ = None, {"lines": []}, False, False
        try:
            for line in _lines(
                worker.stdout.fileno(), IMPORT_SECONDS, lambda: worker.poll() is not None
            ):
                if line is None:
                    silent = True
                    _kill_group(worker)
                    break
                answer = json.loads(line)
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
                    begun, any_ = None, True
                    yield True, {**seen, **answer}
                    seen = {"lines": []}
                else:
                    yield False, answer
        except BaseException:  # the caller wants no more
            _kill_group(worker)
            raise
        finally:
            worker.stdout.close()
            worker.wait()
        how = f"no answer in {IMPORT_SECONDS} s" if silent else _ending(worker.returncode)
        if begun is not None:
            status = {"status": CRASHED, "seen": how}
            yield True, {**seen, **status, "errors": _text_from(errors, begun)}
        elif not any_:
            texts = [f"the process that imports it: {how}", *_text_from(errors).splitlines()]
            yield False, {"problem": "\n".join(texts)}


def _kill_group(worker):
    """End a worker, and what it has started."""
    with contextlib.suppress(OSError):
        os.killpg(worker.pid, signal.SIGKILL)


def _ending(code):
    """How a process ended: its exit code, which is negative for a signal."""
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _text_from(file, position=0):
    """The first five lines of a file from a position on."""
    file.seek(position)
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
        left out. None: no task is left out. Threads are not in a forked process, and may have
        left locks there: with them, no process is forked."""
        self._failures, self._group = {}, group
        if may_fork and threading.active_count() == 1:
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
    messages, any_, in_time, codes = [], False, True, []

    def has_ended():
        pid, status = os.waitpid(child, os.WNOHANG)
        codes.extend([os.waitstatus_to_exitcode(status)] if pid else [])
        return pid

    for line in _lines(incoming, SECONDS, has_ended):
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
    code = codes[0] if codes else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if messages or not any_:
        seen = _ending(code) if in_time else f"did not end in {SECONDS} s"
        yield [*messages, _encoded({"status": CRASHED, "seen": seen})], CRASHED


def _do(work, tasks, is_left_out, answer):
    for task in tasks:
        answer(begin=_written())
        if is_left_out(task):
            answer(status="not applicable", seen="not tried: such cases have failed", lines=[])
        elif work(answer, *task):
            break
        gc.freeze()


def _lines(descriptor, seconds, has_ended):
    """Yield lines until the other end is closed or the process there has ended: what it started may
    keep the end open. Yield None if there is no line for so many seconds."""
    rest, waited, ended = b"", 0, False
    while True:
        ready, _, _ = select.select([descriptor], [], [], 0 if ended else 1)
        if ready:
            part = os.read(descriptor, 1 << 16)
            if not part:
                return
            *lines, rest = (rest + part).split(b"\n")
            yield from (line + b"\n" for line in lines)
            waited = 0
        elif ended:
            return
        else:
            waited, ended = waited + 1, has_ended()
            if waited >= seconds and not ended:
                yield None
