"""How many examples Hypothesis tries: the same few each time, or new ones for some minutes.

    run(lambda settings: run_state_machine_as_test(Machine, settings=settings), examples=50)

DOVETAIL_FUZZ_MINUTES=20 in the environment makes a long run of new examples.
"""

import os
import time

from hypothesis import HealthCheck, Phase, settings

_PLAIN = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}


def run(try_examples, *, examples, steps=30):
    minutes = float(os.environ.get("DOVETAIL_FUZZ_MINUTES", "0"))
    if not minutes:
        same = settings(
            **_PLAIN,
            derandomize=True,
            max_examples=examples,
            stateful_step_count=steps,
            phases=[Phase.generate],  # shrinking takes minutes
        )
        try_examples(same)
        return
    begin, tried = time.monotonic(), 0
    new = settings(
        **_PLAIN,
        max_examples=examples * 5,
        stateful_step_count=2 * steps,
        phases=[Phase.generate, Phase.shrink],
    )
    while time.monotonic() - begin < 60 * minutes:
        try_examples(new)
        tried += new.max_examples
        print(f"{tried} examples in {time.monotonic() - begin:.0f} s", flush=True)
