"""Agents side by side: who is there, what they do, what they tell and what they hold."""
