"""Edits the settings files of other programs: ours goes in and out, the rest keeps its bytes."""
