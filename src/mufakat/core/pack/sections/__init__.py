"""The sections of a pack: one file each, and the table that puts them in order."""
