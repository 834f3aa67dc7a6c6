"""The rules: pure functions over frozen data; time, randomness and facts are arguments."""
