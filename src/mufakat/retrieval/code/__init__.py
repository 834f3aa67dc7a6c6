"""Code of a project: its files walked and read safely, and an index over them."""
