"""Documents that can be read up: content folders, the project's own, those of its packages."""
