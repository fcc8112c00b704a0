"""How a PyTorch whose insides Dovetail does not know holds the memory of its tensors."""


def hold_storage(x):
    """Gives the storage of x, which can't be resized any more, as after x.numpy()."""
    storage = x.untyped_storage()
    if storage.resizable():
        import torch

        torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage).numpy()
    return storage
