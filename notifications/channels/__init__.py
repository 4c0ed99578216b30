"""Transports of deliveries, one module each. A channel knows neither the queue nor the database."""
