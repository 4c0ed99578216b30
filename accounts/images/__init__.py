"""Avatars and images of messages: storage, permissions, and the view that sends them."""
