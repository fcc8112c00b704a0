"""Defines the version of Dovetail. //tools:version_test checks the files that repeat it."""

VERSION = "0.1.0"
