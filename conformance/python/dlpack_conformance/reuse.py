"""Whether memory is freed, seen by addresses: memory that is freed is used again for later arrays,
memory that is not freed never is. Neither the allocator's caches nor their size matter."""

COUNT = 32
SIZE = 1 << 18  # elements of 1 MiB

_LOOP = """\
addresses = set()
for i in range({count}):
    {body}"""


def expect_reuse(s, body, seen):
    """Run a body that makes an array, adds its address to `addresses`, and frees it."""
    if s.adapter.device == "cuda":
        body += '\ncall("cuCtxSynchronize")'
    s.run(_LOOP.format(count=COUNT, body=body.replace("\n", "\n    ")))
    s.expect(
        f"len(addresses) < {COUNT}",
        f"{seen}: {COUNT} arrays of 1 MiB have {{len(addresses)}} addresses",
    )
