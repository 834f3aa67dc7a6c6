"""The command: `python -m bench NAME [--write]`; scripts/bench says which there are."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from bench import report


def main() -> None:
    """Measure what is named, print the tables, and with --write keep them in the docs."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "name",
        choices=(
            "pack",
            "turn",
            "pull",
            "hook",
            "coordination",
            "compression",
            "memory",
            "documents",
            "graph",
            "secrets",
            "code",
        ),
    )
    parser.add_argument(
        "--repos", type=Path, metavar="DIR", help="git folders, for graph; checkouts, for code"
    )
    parser.add_argument("--data", type=Path, metavar="FILE", help="locomo10.json")
    parser.add_argument("--annotations", type=Path, metavar="DIR", help="questions, for code")
    parser.add_argument(
        "--history", type=Path, metavar="DIR", action="append", help="git directory, for code"
    )
    parser.add_argument(
        "--model", metavar="DIR", help="folder of an embedding model, or `wheel`, for memory"
    )
    parser.add_argument("--write", action="store_true", help="rewrite docs/benchmarks.md")
    chosen = parser.parse_args()
    # Each needs what the other does without: the peers, or the real CLI.
    measure = importlib.import_module(f"bench.{chosen.name}").main
    names = ("data", "repos", "annotations", "history", "model")
    options = {name: getattr(chosen, name) for name in names}
    given = {name: value for name, value in options.items() if value}
    body = f"{measure(**given)}\n\n{report.machine()}"
    print(body)
    if chosen.write:
        report.write(chosen.name, body)


if __name__ == "__main__":
    main()
