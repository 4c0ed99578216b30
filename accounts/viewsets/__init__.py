"""The viewsets of accounts."""
