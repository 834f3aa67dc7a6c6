"""The store: durable records in SQLite, one writer, many readers."""
