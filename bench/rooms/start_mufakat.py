"""Starts the real server with the limits on sending raised, as the peers' are for the measure.

Run as `python -m bench.rooms.start_mufakat ARGUMENT …`; the arguments are those of `mufakat`.
"""

from __future__ import annotations

import sys

from mufakat.cli.main import main
from mufakat.core.coordination.flood import Rate, Rates
from mufakat.services.coordination import mailbox

WIDE = Rate(10**9, 10.0**9)

if __name__ == "__main__":
    setattr(mailbox, Rates.__name__, lambda: Rates(WIDE, WIDE))
    sys.exit(main(sys.argv[1:]))
