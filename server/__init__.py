"""Serving and monitoring: middleware, static files, protocols, health, metrics, logs."""
