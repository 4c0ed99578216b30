"""Django's PostgreSQL backend with three differences: see base.py."""
