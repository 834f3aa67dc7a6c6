"""The real application with engines that a test chooses, for cases from the field."""

from services.conftest import house, project  # noqa: F401
