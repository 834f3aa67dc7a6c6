"""Conversations, the messages in them, and the turns that agents take."""
