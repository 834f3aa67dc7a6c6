"""The graph of a project: who refers to whom, and which files change together."""
