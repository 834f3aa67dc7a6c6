"""Roundtables: begun, carried through as durable jobs, and what they came to."""
