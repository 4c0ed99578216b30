"""What `dev.py` does. It runs before anything is installed: standard library only, which a test holds."""
