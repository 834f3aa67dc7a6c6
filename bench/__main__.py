"""The command: `python -m bench pack|turn|hook|coordination [--write]`."""

from __future__ import annotations

import argparse
import importlib

from bench import report


def main() -> None:
    """Measure what is named, print the tables, and with --write keep them in the docs."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", choices=("pack", "turn", "hook", "coordination"))
    parser.add_argument("--write", action="store_true", help="rewrite docs/benchmarks.md")
    chosen = parser.parse_args()
    # Each needs what the other does without: the peers, or the real CLI.
    measure = importlib.import_module(f"bench.{chosen.name}").main
    body = f"{measure()}\n\n{report.machine()}"
    print(body)
    if chosen.write:
        report.write(chosen.name, body)


if __name__ == "__main__":
    main()
