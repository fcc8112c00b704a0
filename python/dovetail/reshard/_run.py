"""Plans that are run, one or several at once."""

import contextlib
import json

from dovetail import _core
from dovetail.reshard._move import Move, check_apart


def run(moves, group, *, copy=False, timeout=60.0):
    """Move several tensors, such as all of a model. The ranks wait for each other only twice.

    moves  (plan, shards, out) of each tensor, with a RankPlan, or a Reshard, and the tensors as
           RankPlan.run() takes them. All ranks have the same plans in the same order
    group, copy, timeout
           as in RankPlan.run()

    Returns a list of what RankPlan.run() returns for each. Raises what it raises.
    """
    try:
        return _run(list(moves), group, copy, timeout)
    except Exception:
        raise
    except BaseException:  # a KeyboardInterrupt, after which the others would wait
        if group is not None:
            group.abandon()
        raise


def _run(moves, group, copy, timeout):
    if group is not None and not hasattr(group, "exchange"):
        raise TypeError(f"group is a Group, not {type(group).__name__}")
    rank = 0 if group is None else group.rank
    with _tell_of_failure(group, timeout):
        moves = [
            _move(number, len(moves), group, *_parts(move)) for number, move in enumerate(moves)
        ]
        targets = [tensor for move in moves for tensor in move.targets]
        check_apart(targets, [tensor for move in moves for tensor in move.sources])
        own = {
            "plans": [move.plan.fingerprint for move in moves],
            "of": [move.plan.description for move in moves],
            "shards": [move.share(copy) for move in moves] if group is not None else [],
        }
    if group is None:
        for move in moves:
            move.copy()
        return [move.result for move in moves]
    answers = _meet(group, own, timeout)
    _compare(own, answers, rank)
    # The shards of a rank that has ended can't be opened.
    with _tell_of_failure(group, timeout, unless_ended=_core.ExchangeError):
        pending = [request for move in moves for request in move.begin_messages()]
        opened = []
        for number, move in enumerate(moves):
            opened += move.open([answer["shards"][number] for answer in answers])
        check_apart(targets, opened)
        for move in moves:
            move.copy()
        if pending:
            group.wait(pending, timeout=timeout)
    _raise_failures(_meet(group, {}, timeout))
    return [move.result for move in moves]


def _parts(move):
    if not isinstance(move, tuple) or len(move) != 3:
        raise TypeError(f"a tensor is (plan, shards, out), where out may be None, not {move!r}")
    return move


def _move(number, count, group, plan, shards, out):
    try:
        if hasattr(plan, "for_rank"):
            plan = plan.for_rank(0 if group is None else group.rank)
        return Move(plan, shards, out, group)
    except (TypeError, ValueError, _core.ExchangeError) as error:
        if count == 1:
            raise
        raise type(error)(f"Of the tensors, number {number}: {error}") from error


def _meet(group, own, timeout):
    return [json.loads(data) for data in group.exchange(json.dumps(own).encode(), timeout=timeout)]


@contextlib.contextmanager
def _tell_of_failure(group, timeout, unless_ended=()):
    """Tell the other ranks of an exception, so that they raise as well.

    unless_ended  exceptions that may come of the end of another rank, which is raised then
    """
    try:
        yield
    except Exception as error:
        if group is not None:
            try:
                _meet(group, {"error": f"{type(error).__name__}: {error}"}, timeout)
            except OSError as end:  # the others know that something failed
                if isinstance(error, unless_ended):
                    raise end from error
        raise


def _raise_failures(answers):
    for rank, answer in enumerate(answers):
        if "error" in answer:
            raise RuntimeError(f"Rank {rank} failed: {answer['error']}")


def _compare(own, answers, rank):
    """Raise unless all ranks have the same plans."""
    _raise_failures(answers)
    for other, answer in enumerate(answers):
        plans = answer.get("plans", [])
        if plans == own["plans"]:
            continue
        if len(plans) != len(own["plans"]):
            how = f"moves {len(plans)} tensors, and rank {rank} {len(own['plans'])}"
        else:
            number = [a == b for a, b in zip(plans, own["plans"], strict=True)].index(False)
            theirs, ours = answer["of"][number], own["of"][number]
            how = f"has one of {theirs}, and rank {rank} of {ours}"
            if theirs == ours:
                how = f"has one of {ours}, with other boxes or hosts than rank {rank}"
            if len(plans) > 1:
                how += f" (number {number} of the tensors)"
        raise ValueError(f"The ranks have different plans: rank {other} {how}.")
