"""The doors of accounts: one module per story."""
