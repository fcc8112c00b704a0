"""The version of Dovetail: the one place where it is written (//tools:version_test holds the others to it)."""

VERSION = "0.1.0"
