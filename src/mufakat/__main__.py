"""Lets `python -m mufakat` be the command."""

import sys

from mufakat.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
