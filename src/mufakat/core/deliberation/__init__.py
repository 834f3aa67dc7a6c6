"""Roundtables: several agents on one question, in rounds, to agreed, open and disputed points."""
