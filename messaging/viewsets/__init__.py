"""The REST entry points of messaging, one module per resource."""
