"""The server: it offers the services to other processes."""
