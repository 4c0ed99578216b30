"""The doors of this app over HTTP, one module per story."""
