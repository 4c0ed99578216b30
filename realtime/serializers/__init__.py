"""Serializers of the real-time channel."""
