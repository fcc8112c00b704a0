"""Whether calls leave memory behind, seen by the growth of the process."""

ROUNDS, BYTES = 4, 64

# The first round fills caches. An allocator takes memory for later calls now and then, so that the
# round that grows least tells what each call leaves.
_ROUNDS = f"""\
def resident():
    gc.collect()
    try: ctypes.CDLL(None).malloc_trim(0)  # free memory that is resident hides what is left
    except AttributeError: pass
    try: return int(open("/proc/self/statm").read().split()[1]) * mmap.PAGESIZE
    except OSError: return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grown = []
for i in range({ROUNDS}):
    before = resident()
    for j in range({{calls}}):
        {{body}}
    grown.append(resident() - before)
left = min(grown[1:]) // {{calls}}"""


def expect_steady(s, body, what, calls=2000):
    """Run a body that often in each round; a call may not leave memory behind."""
    s.run(_ROUNDS.format(body=body.replace("\n", "\n        "), calls=calls))
    s.expect(f"left < {BYTES}", what + " leaves {left} bytes behind")
