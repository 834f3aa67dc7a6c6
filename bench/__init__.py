"""Measures Mufakat and its peers side by side; nothing of it ships."""
