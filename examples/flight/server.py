"""A server of Arrow Flight that keeps tensors by name.

./bazelw run //examples/flight:server      # prints its port, and serves until it is stopped
"""

import pyarrow as pa
import pyarrow.flight as flight
from batches import from_batch


class TensorServer(flight.FlightServerBase):
    """Keeps each tensor as the record batch in which it arrived, in the same memory."""

    def __init__(self, location="grpc://127.0.0.1:0"):
        super().__init__(location)
        self._batches = {}

    def tensor(self, name):
        """Return the tensor of this name, in the memory in which it arrived."""
        return from_batch(self._batches[name])

    def do_put(self, context, descriptor, reader, writer):
        batches = [chunk.data for chunk in reader]
        if len(batches) != 1:
            raise ValueError(f"a tensor is one record batch of at most 2 GiB, not {len(batches)}")
        from_batch(batches[0])  # raises what is wrong with it
        self._batches[descriptor.path[0].decode()] = batches[0]

    def do_get(self, context, ticket):
        name = ticket.ticket.decode()
        batch = self._batches.get(name)
        if batch is None:
            raise KeyError(f"no tensor has the name {name!r}")
        return flight.RecordBatchStream(pa.RecordBatchReader.from_batches(batch.schema, [batch]))


if __name__ == "__main__":
    server = TensorServer()
    print(server.port, flush=True)
    server.serve()
