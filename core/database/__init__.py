"""Statements, transactions and connections."""
