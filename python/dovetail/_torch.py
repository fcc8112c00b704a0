"""Keeps the memory of PyTorch tensors alive, for PyTorch versions whose internals are unknown."""


def hold_storage(x):
    """Return the storage of x. It can no longer be resized, as after x.numpy()."""
    storage = x.untyped_storage()
    if storage.resizable():
        import torch

        torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage).numpy()
    return storage
