"""One target under atheris, which looks for new paths: `python -m fuzz.guided TARGET FOLDER …`.

What stands behind the folder of seeds goes to libFuzzer as it is. The process never returns.
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

with atheris.instrument_imports(include=["mufakat"]):
    from fuzz import targets


def main(arguments: list[str]) -> None:
    """Fuzz until libFuzzer's own limits end the process."""
    name, *rest = arguments
    atheris.Setup([sys.argv[0], *rest], targets.ALL[name].run)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
