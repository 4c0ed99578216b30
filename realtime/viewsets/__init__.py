"""The REST entry points, one module per resource."""
