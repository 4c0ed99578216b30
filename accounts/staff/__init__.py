"""The support site: Django's admin with its own sign-in, lists and confirmed actions."""
