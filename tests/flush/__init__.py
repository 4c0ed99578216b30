"""A Django app with one command: `flush` as the tests need it."""
