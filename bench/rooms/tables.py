"""The tables of the coordination benchmark: ratios first, then figures, then what falls short."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import mean, median

from bench import report
from bench.rooms.load import Load
from bench.rooms.room import ACK, CLIENTS, GATE, LEASE, READ, SEND, TIMED
from mufakat.core import tokens

SQLITE, POSTGRES = "Mufakat, SQLite", "Mufakat, PostgreSQL"
NONE = "–"
NAMES = {
    SEND: "send",
    READ: "read inbox",
    ACK: "ack",
    LEASE: "lease, acquire + release",
    GATE: "gate query",
}


@dataclass(slots=True)
class Loads:
    """The rounds of each operation."""

    rounds: dict[str, list[Load]] = field(default_factory=lambda: defaultdict(list))

    def keep(self, what: str, load: Load | None) -> None:
        """Add a round."""
        if load is not None:
            self.rounds[what].append(load)

    def took(self, what: str) -> list[float]:
        """Milliseconds of each operation in all rounds, sorted."""
        return sorted(one for load in self.rounds[what] for one in load.took)

    def rate(self, what: str) -> float | None:
        """Operations a second, the median of the rounds."""
        rounds = self.rounds[what]
        return median(one.rate for one in rounds) if rounds else None

    def cpu(self, what: str) -> float:
        """Milliseconds of the server's processor for one operation; 0 where there was none."""
        return sum(one.server for one in self.rounds[what]) / max(1, len(self.took(what)))


@dataclass(slots=True)
class Standing:
    """What a store that holds much does."""

    little: Loads = field(default_factory=Loads)
    much: Loads = field(default_factory=Loads)
    heard: list[float] = field(default_factory=list)
    """Milliseconds until a listener had an event."""
    fill: float = 0.0
    """Seconds that filling took."""
    memory: float = 0.0
    """MiB at the end, with the listeners."""


@dataclass(slots=True)
class Measured:
    """All of one run."""

    messages: int
    leases: int
    listeners: int
    rooms: dict[str, str] = field(default_factory=dict)
    """Versions by name."""
    loads: dict[tuple[str, int], Loads] = field(default_factory=lambda: defaultdict(Loads))
    memory: dict[str, float | None] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    contended: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    hooks: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Wall and processor of one call, seconds."""
    standing: dict[str, Standing] = field(default_factory=dict)
    disk: list[float] = field(default_factory=list)
    """Milliseconds of an fsync, before and after."""

    def keep(self, name: str, what: str, clients: int, load: Load | None) -> None:
        """Add a round of an operation."""
        self.loads[name, clients].keep(what, load)


def whole(found: Measured) -> str:
    """All tables."""
    parts = [
        f"### Beside Mufakat on SQLite\n\n{ratios(found)}",
        f"### One client and {CLIENTS}\n\n{figures(found)}",
        f"### What else it costs\n\n{costs(found)}",
        f"### With {found.messages:,} messages and {found.leases} leases\n\n{full(found)}",
        f"### Beside the disk\n\n{disk(found)}",
    ]
    troubles = failures(found)
    return "\n\n".join([*parts, troubles] if troubles else parts)


def ratios(found: Measured) -> str:
    """Operations a second, and the server's processor for one, as a share of ours."""
    lines = []
    for what in TIMED:
        for clients in (1, CLIENTS):
            base = found.loads[SQLITE, clients].rate(what)
            line = [f"{NAMES[what]}, {_clients(clients)}"]
            for name in found.rooms:
                rate = found.loads[name, clients].rate(what)
                line.append(f"{rate / base:.2f}" if rate and base else NONE)
            lines.append(line)
    costs = [[f"{NAMES[what]}, server CPU", *_cpu_ratios(found, what)] for what in TIMED]
    return report.table(("operations a second, ratio", *_titles(found)), lines + costs)


def _cpu_ratios(found: Measured, what: str) -> list[str]:
    base = found.loads[SQLITE, CLIENTS].cpu(what)
    each = [found.loads[name, CLIENTS].cpu(what) for name in found.rooms]
    return [f"{cpu / base:.2f}" if cpu and base else NONE for cpu in each]


def figures(found: Measured) -> str:
    """Operations a second, p50 and p99, and the server's processor for one of them."""
    lines = []
    for what in TIMED:
        for clients in (1, CLIENTS):
            line = [f"{NAMES[what]}, {_clients(clients)}"]
            lines.append(line + [_figure(found.loads[name, clients], what) for name in found.rooms])
    return report.table(("per second; p50, p99; server CPU, in ms", *_titles(found)), lines)


def _figure(loads: Loads, what: str) -> str:
    took = loads.took(what)
    if not took:
        return NONE
    cpu, rate = loads.cpu(what), loads.rate(what) or 0.0
    return f"{rate:,.0f}/s; {median(took):,.1f}, {p99(took):,.0f}; {cpu:.2f}"


def costs(found: Measured) -> str:
    """Contention, memory, tools and hooks."""
    contention, memory, tools, hook = ["10 things × 8 clients: granted, refused"], [], [], []
    for name in found.rooms:
        granted = found.contended[name]
        contention.append(f"{granted[0]:,}, {granted[1]:,}" if granted else NONE)
        size, listed, took = found.memory[name], found.tools[name], found.hooks.get(name)
        memory.append(f"{size:.0f}" if size else NONE)
        tools.append(f"{tokens.estimate(listed):,}" if listed else NONE)
        hook.append(f"{1000 * took[0]:.0f}, {1000 * took[1]:.0f}" if took else NONE)
    lines = [
        contention,
        ["memory of the server, MiB", *memory],
        ["list of tools, tokens", *tools],
        ["hook at a turn's end: wall, CPU, in ms", *hook],
    ]
    return report.table(("what", *_titles(found)), lines)


def full(found: Measured) -> str:
    """What a full store changes, with 8 clients, and what listeners see."""
    lines = []
    for what in TIMED:
        line = [f"{NAMES[what]}, p99 ms: little, much, change"]
        for one in found.standing.values():
            little, much = p99(one.little.took(what)), p99(one.much.took(what))
            line.append(f"{little:,.0f}, {much:,.0f}, {100 * (much / little - 1):+.0f} %")
        lines.append(line)
    every = list(found.standing.values())
    heard = [sorted(one.heard) for one in every]
    listening = f"{found.listeners} listeners: p50, p99 ms until an event is seen"
    lines += [
        [listening, *(f"{median(one):,.0f}, {p99(one):,.0f}" for one in heard)],
        ["memory at the end, MiB", *(f"{one.memory:.0f}" for one in every)],
        ["filled at, messages a second", *(f"{found.messages / one.fill:,.0f}" for one in every)],
    ]
    return report.table((f"{CLIENTS} clients", *found.standing), lines)


def disk(found: Measured) -> str:
    """Durable sends beside what the disk gives when each of 8 clients waits for every sync."""
    sync = mean(found.disk)
    lines = [["an fsync of 4 KiB, ms before and after", *[_both(found.disk)] * len(found.standing)]]
    line = [f"sends a second ÷ ({CLIENTS} for every fsync)"]
    for name in found.standing:
        rate = found.loads[name, CLIENTS].rate(SEND) or 0.0
        line.append(f"{rate / (CLIENTS * 1000 / sync):.2f}")
    return report.table(("the disk", *found.standing), [*lines, line])


def _both(disk: list[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in disk)


def failures(found: Measured) -> str:
    """What went wrong, by room and operation."""
    lines = []
    for (name, clients), loads in found.loads.items():
        for what, rounds in loads.rounds.items():
            failed = [one for one in rounds if one.failed]
            if failed:
                count = sum(one.failed for one in failed)
                lines.append(f"- {name}, {NAMES[what]}, {_clients(clients)}: {count} failed")
    return "\n".join(lines)


def p99(took: list[float]) -> float:
    """Of a sorted list."""
    return took[min(len(took) - 1, int(len(took) * 0.99))] if took else float("nan")


def _clients(count: int) -> str:
    return "1 client" if count == 1 else f"{count} clients"


def _titles(found: Measured) -> list[str]:
    return [f"{name} ({version})" for name, version in found.rooms.items()]
