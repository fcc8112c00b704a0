"""What ranks tell each other when they run a plan: a line of JSON, and handles of shards."""

import json
import struct

_ENTRY = struct.Struct("<III")  # the number of the tensor, of the shard, and the handle's bytes


def encode(facts, handles=()):
    """Return a message.

    facts    a dict for JSON
    handles  for each tensor of the run a dict of bytes by the number of the shard
    """
    parts = [json.dumps(facts).encode(), b"\n"]
    for tensor, of_tensor in enumerate(handles):
        for shard, handle in of_tensor.items():
            parts += [_ENTRY.pack(tensor, shard, len(handle)), handle]
    return b"".join(parts)


class Answer:
    """A rank's message. Raises ValueError for what is none."""

    def __init__(self, rank, data):
        line, _, self._entries = data.partition(b"\n")
        try:
            self.facts = json.loads(line)
        except ValueError as error:
            raise ValueError(f"Rank {rank} sent no message of a run: {line[:40]!r}") from error
        self._handles = None

    def handle(self, tensor, shard):
        """Return the handle of a shard. The handles are only read where one is asked for."""
        if self._handles is None:
            self._handles, at = {}, 0
            while at < len(self._entries):
                *key, nbytes = _ENTRY.unpack_from(self._entries, at)
                at += _ENTRY.size
                self._handles[tuple(key)] = self._entries[at : at + nbytes]
                at += nbytes
        return self._handles[tensor, shard]
