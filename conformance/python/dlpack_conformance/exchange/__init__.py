"""The checks of the C exchange API: what the functions in the table of a type do."""
