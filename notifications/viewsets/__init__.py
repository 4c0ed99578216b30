"""The REST entry points of this app, one module per resource."""
