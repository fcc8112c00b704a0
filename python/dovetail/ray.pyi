"""Type stubs of dovetail.ray. The module documents the function; the classes are for Ray."""

__all__ = ["register"]

def register() -> None: ...
