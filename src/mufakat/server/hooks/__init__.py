"""Translates the hooks of engines into calls of services, and the answers back; nothing more."""
