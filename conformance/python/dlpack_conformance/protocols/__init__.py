"""The checks of the other protocols: buffers, the array interface, Arrow's capsules."""
