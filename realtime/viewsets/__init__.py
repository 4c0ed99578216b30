"""The doors over REST, a module per story."""
