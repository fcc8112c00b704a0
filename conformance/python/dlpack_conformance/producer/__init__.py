"""The checks of producers: what __dlpack__() and __dlpack_device__() answer."""
