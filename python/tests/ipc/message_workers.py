"""What the other processes of messages_test.py run."""

MIB = 1 << 20


def filled(pool, shape):
    """Return the message of a tensor that only the message keeps."""
    t = pool.empty(shape, dtype="float32", timeout=60)
    t[...] = shape[0]
    return pool.share(t, opens=1)


class Collate:
    """What a DataLoader calls in its workers."""

    def __init__(self, pool):
        self._pool = pool

    def __call__(self, samples):
        batch = self._pool.empty(len(samples), dtype="int64", timeout=60)
        batch[...] = samples
        return self._pool.share(batch, opens=1)


def send_several(channel, pool, count):
    """Send messages, and end when told to."""
    for _ in range(count):
        channel.send_bytes(filled(pool, (3,)))
    channel.recv()


def send_more_than_there_is_room_for(channel, pool, count):
    """Send a tensor of 1 MiB for each number."""
    for i in range(count):
        t = pool.empty(MIB, dtype="uint8", timeout=60)
        t[...] = i
        channel.send_bytes(pool.share(t, opens=1))
        del t
    channel.poll(60)  # a sender's messages end with it
