"""Django's PostgreSQL backend with three differences (base.py)."""
