"""Vendors: agreement among seats of one model says little, and that is said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mufakat.core.deliberation.seat import Seat


def of(declared: str, engine: str, *, model: str) -> str:
    """Who makes a seat's model: named in `VENDOR/MODEL`, else by the engine, else unknown."""
    head, slash, _ = model.partition("/")
    return (head if slash else declared or engine).lower()


def wanted(seats: Sequence[Seat]) -> int:
    """How many vendors must hold a claim to be right before it is agreed: two where there are."""
    return min(2, len({seat.vendor for seat in seats if seat.active}))


def reached(vendors: Iterable[str], quorum: int) -> bool:
    """Whether those who agree are of enough vendors."""
    return len(set(vendors)) >= quorum


def warning(seats: Sequence[Seat]) -> str:
    """What a person should know about who sits here; empty where nothing is wrong."""
    active = [seat for seat in seats if seat.active]
    if len({(seat.vendor, seat.model) for seat in active}) == 1 and len(active) > 1:
        return (
            "all seats are the same model: they share their blind spots, "
            "and that they agree means little"
        )
    if len({seat.vendor for seat in active}) == 1 and len(active) > 1:
        return "all seats are of one vendor: a seat of another one would say more"
    return ""
