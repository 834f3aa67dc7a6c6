"""Which means of the operating system there are to keep hold of a process tree.

Linux has all of them. Elsewhere a run is ended by its process group alone, and `doctor` says so.
"""

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from mufakat.engines.process import launch


@dataclass(frozen=True, slots=True)
class Support:
    """`pdeathsig`: a child dies with us. `subreaper`: orphans stay in reach of a walk.

    `environ_sweep`: a process can be found by its run mark. `pidfd`: exit and signals without
    the danger of a reused pid.
    """

    pdeathsig: bool
    subreaper: bool
    environ_sweep: bool
    pidfd: bool


GROUP_ONLY = Support(pdeathsig=False, subreaper=False, environ_sweep=False, pidfd=False)


def platform_support() -> Support:
    """Return what this machine offers."""
    linux = sys.platform.startswith("linux")
    return Support(
        pdeathsig=linux,
        subreaper=linux and Path("/proc/self/stat").exists(),
        environ_sweep=Path("/proc/self/environ").exists(),
        pidfd=_has_pidfd(),
    )


def become_subreaper() -> bool:
    """Make this process the parent of all orphans below it; False where that does not exist.

    For the server only: from then on adopted children end as its zombies, which every run
    reaps at its end, pid by pid.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    done: int = libc.prctl(launch.PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)
    return done == 0


def _has_pidfd() -> bool:
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True
