"""Django's PostgreSQL backend with two differences: see base.py."""
