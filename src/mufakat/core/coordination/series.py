"""What is measured, and under which names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Type(StrEnum):
    """How a series grows."""

    COUNTER = "counter"
    HISTOGRAM = "histogram"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Series:
    """One name that is measured."""

    type: Type
    help: str
    labels: tuple[str, ...] = ()
    """Kinds, states and results; never an identity or a resource, of which there is no end."""
    buckets: tuple[float, ...] = ()
    """Upper bounds in seconds, of a histogram."""


SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
LONG = (0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400)
C, H, G = Type.COUNTER, Type.HISTOGRAM, Type.GAUGE

SERIES: Mapping[str, Series] = MappingProxyType(
    {
        "iacp_state_transitions_total": Series(C, "Changes of state.", ("from", "to")),
        "iacp_state_seconds": Series(H, "Time spent in a state.", ("state",), LONG),
        "iacp_lease_acquired_total": Series(C, "Leases granted.", ("kind",)),
        "iacp_lease_held_total": Series(C, "Requests refused, held by others.", ("kind",)),
        "iacp_lease_expired_total": Series(C, "Leases that ran out.", ("kind",)),
        "iacp_lease_preempted_total": Series(C, "Leases that passed to a higher class.", ("kind",)),
        "iacp_lease_renewed_total": Series(C, "Renewals.", ("kind",)),
        "iacp_lease_transferred_total": Series(C, "Leases handed over.", ("kind",)),
        "iacp_lease_lost_total": Series(C, "Leases taken away, or used after their end.", ("why",)),
        "iacp_lease_wait_seconds": Series(H, "Time from request to grant.", (), LONG),
        "iacp_lease_hold_seconds": Series(H, "Time from grant to end.", (), LONG),
        "iacp_lease_queue_depth": Series(G, "Requests that wait for a lease."),
        "iacp_inbox_unread": Series(G, "Messages that nobody has been shown."),
        "iacp_delivery_seconds": Series(H, "From delivery to being shown.", ("path",), LONG),
        "iacp_dead_letters": Series(G, "Messages that were given up."),
        "iacp_gate_blocks_total": Series(C, "Answers of the stop gate.", ("result",)),
        "iacp_gate_skipped_total": Series(C, "Stops let through because no answer came."),
        "iacp_injected_chars_total": Series(C, "Characters told to agents.", ("path",)),
        "iacp_hook_seconds": Series(H, "Time in which hooks were answered.", ("moment",), SHORT),
        "iacp_agents": Series(G, "Agents and people by state.", ("state",)),
    }
)
