"""The room where CLI coding agents work together."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPING
from typing import Any as _Any

from mufakat.core.base import MufakatError

if _TYPING:
    from mufakat.sdk.agent import Agent
    from mufakat.sdk.async_agent import AsyncAgent

__version__ = "0.1.0"

__all__ = ["Agent", "AsyncAgent", "MufakatError", "__version__"]


def __getattr__(name: str) -> _Any:
    # Late, so that commands that need no agent start without it.
    match name:
        case "Agent":
            return _import_module("mufakat.sdk.agent").Agent
        case "AsyncAgent":
            return _import_module("mufakat.sdk.async_agent").AsyncAgent
    raise AttributeError(f"module 'mufakat' has no attribute {name!r}")
