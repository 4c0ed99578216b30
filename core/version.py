"""The version of Parley. `dev.py release` writes it and everything that repeats it: docs/guides/versioning.md."""

VERSION = "1.0.0"
