"""Plans that are run, one or several at once."""

import contextlib
import hashlib

from dovetail import _core
from dovetail.reshard._answers import Answer, encode
from dovetail.reshard._channel import check_timeout
from dovetail.reshard._move import Move, check_apart

_TIMEOUT = 60.0  # seconds


def run(moves, group, *, copy=False, timeout=_TIMEOUT):
    """Move several tensors, such as all of a model. The ranks wait for each other only twice.

    moves  (plan, shards, out) of each tensor, with a RankPlan, or a Reshard, and the tensors as
           RankPlan.run() takes them. All ranks have the same plans in the same order
    group, copy, timeout
           as in RankPlan.run()

    Returns a list of what RankPlan.run() returns for each. Raises what it raises.
    """
    if group is not None and not hasattr(group, "exchange"):
        raise TypeError(f"group is a Group, not {type(group).__name__}")
    try:
        return _run(moves, group, copy, timeout)
    except Exception:
        raise
    except BaseException:  # a KeyboardInterrupt, after which the others would wait
        if group is not None:
            group.abandon()
        raise


def _run(moves, group, copy, timeout):
    with _tell_of_failure(group, _TIMEOUT):
        check_timeout(timeout)
    with _tell_of_failure(group, timeout):
        moves = list(moves)
        count = len(moves)
        moves = [_move(number, count, group, move) for number, move in enumerate(moves)]
        targets = [tensor for move in moves for tensor in move.targets]
        check_apart(targets, [tensor for move in moves for tensor in move.sources])
        if group is None:
            for move in moves:
                move.copy()
            return [move.result for move in moves]
        for move in moves:
            move.prepare_messages()
        handles = [move.share(copy) for move in moves]
    answers = _meet(group, {"plans": _fingerprint(moves)}, timeout, handles)
    _compare(moves, answers, group, timeout)
    # The shards of a rank that has ended can't be opened.
    with _tell_of_failure(group, timeout, unless_ended=_core.ExchangeError):
        try:
            for move in moves:
                move.begin_messages()
            opened = []
            for number, move in enumerate(moves):
                opened += move.open(lambda rank, shard, n=number: answers[rank].handle(n, shard))
            check_apart(targets, opened)
            for move in moves:
                move.copy()
        except Exception:
            with contextlib.suppress(OSError):
                _finish(group, timeout)  # the others count on the messages
            raise
        _finish(group, timeout)
    _raise_failures(_meet(group, {}, timeout))
    return [move.result for move in moves]


def _move(number, count, group, move):
    try:
        if not isinstance(move, tuple) or len(move) != 3:
            raise TypeError(f"a tensor is (plan, shards, out), where out may be None, not {move!r}")
        plan, shards, out = move
        if hasattr(plan, "for_rank"):
            plan = plan.for_rank(0 if group is None else group.rank)
        elif not hasattr(plan, "receives"):
            raise TypeError(f"a plan is a Reshard or a RankPlan, not {type(plan).__name__}")
        return Move(plan, shards, out, group)
    except (TypeError, ValueError, _core.ExchangeError) as error:
        if count == 1:
            raise
        kinds = (_core.ExchangeError, TypeError, ValueError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"Of the tensors, number {number}: {error}") from error


def _fingerprint(moves):
    text = " ".join(move.plan.fingerprint for move in moves)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _meet(group, facts, timeout, handles=()):
    answers = group.exchange(encode(facts, handles), timeout=timeout)
    return [Answer(rank, data) for rank, data in enumerate(answers)]


def _finish(group, timeout):
    """Wait for messages to and from other hosts."""
    if hasattr(group, "finish"):
        group.finish(timeout=timeout)


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
        if "error" in answer.facts:
            raise RuntimeError(f"Rank {rank} failed: {answer.facts['error']}")


def _compare(moves, answers, group, timeout):
    """Raise unless all ranks have the same plans. If not, the ranks tell each other which."""
    _raise_failures(answers)
    if len({answer.facts.get("plans") for answer in answers}) == 1:
        return
    own = {
        "plans": [move.plan.fingerprint for move in moves],
        "of": [move.plan.description for move in moves],
    }
    for other, answer in enumerate(_meet(group, own, timeout)):
        plans, texts = answer.facts.get("plans", []), answer.facts.get("of", [])
        if plans == own["plans"]:
            continue
        if len(plans) != len(own["plans"]):
            how = f"moves {len(plans)} tensors, and rank {group.rank} {len(own['plans'])}"
        else:
            number = [a == b for a, b in zip(plans, own["plans"], strict=True)].index(False)
            theirs, ours = texts[number], own["of"][number]
            how = f"has one of {theirs}, and rank {group.rank} of {ours}"
            if theirs == ours:
                how = f"has one of {ours}, with other boxes or hosts than rank {group.rank}"
            if len(plans) > 1:
                how += f" (number {number} of the tensors)"
        raise ValueError(f"The ranks have different plans: rank {other} {how}.")
