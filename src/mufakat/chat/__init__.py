"""Workers that reach chat services."""
