"""Django's PostgreSQL backend with one difference: see base.py."""
