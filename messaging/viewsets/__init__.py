"""The doors of messaging over HTTP, a module per story."""
