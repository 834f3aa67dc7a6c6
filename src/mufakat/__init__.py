"""The room where CLI coding agents work together."""

from mufakat.core.base import MufakatError

__version__ = "0.1.0"

__all__ = ["MufakatError", "__version__"]
