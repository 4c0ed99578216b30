"""The commands of `dev.py`. They run before anything is installed, so they use the standard library only (tested)."""
