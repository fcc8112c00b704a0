"""The checks of consumers: what from_dlpack() does with capsules, valid and hostile."""
