from django.contrib.auth.hashers import PBKDF2PasswordHasher


class QuickHasher(PBKDF2PasswordHasher):
    """A real salted hash with one round, so that a thousand sign-ins take no minute."""

    iterations = 1
