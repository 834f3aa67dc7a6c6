"""What the adapters of command-line agents share: one turn is one process, prompt by stdin."""
