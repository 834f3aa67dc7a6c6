"""Databases of every released schema; a file that was released is never written again."""
