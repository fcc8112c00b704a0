"""A client of the server beside it: tensors of any library go there and come back.

./bazelw run //examples/flight:client      # starts a server, and gives it a tensor of PyTorch
"""

import pathlib
import subprocess
import sys

import pyarrow as pa
import pyarrow.flight as flight
from batches import from_batch, to_batch

import dovetail as dt

# gRPC leaves the elements at any address. With this option, Arrow copies them to a multiple of 64.
ALIGNED = flight.FlightCallOptions(
    read_options=pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.At64Byte)
)


class TensorClient(flight.FlightClient):
    def put(self, name, tensor):
        """Send a tensor of any library to the server, under this name."""
        batch = to_batch(dt.from_dlpack(tensor))
        writer, _ = self.do_put(flight.FlightDescriptor.for_path(name), batch.schema)
        with writer:
            writer.write_batch(batch)

    def get(self, name, *, aligned=True):
        """Return the server's tensor of this name. It is read-only.

        aligned  False: without Arrow's copy, at any address. NumPy and Dovetail read such a tensor.
        """
        reader = self.do_get(flight.Ticket(name), ALIGNED if aligned else None)
        return from_batch(reader.read_chunk().data)


def main():
    import torch

    server = pathlib.Path(__file__).parent / "server.py"
    with subprocess.Popen([sys.executable, server], stdout=subprocess.PIPE, text=True) as process:
        try:
            with TensorClient(f"grpc://127.0.0.1:{process.stdout.readline().strip()}") as client:
                weights = torch.randn(4, 3, dtype=torch.bfloat16)
                client.put("weights", weights)
                back = client.get("weights")
                print("from the server:", back)
                print("equal:", torch.equal(dt.convert(back, torch.Tensor), weights))
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
