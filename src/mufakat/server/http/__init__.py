"""The HTTP door: it translates requests into calls of services and answers into JSON."""
