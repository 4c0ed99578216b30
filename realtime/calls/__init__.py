"""Calls between two users: state, signaling, history and the credentials of the TURN server."""
