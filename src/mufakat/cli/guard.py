"""`mufakat guard`: runs a command under a lease, and ends it when the lease is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress

import click

from mufakat.cli import attach, duration
from mufakat.cli import resources as paths
from mufakat.cli.session import Command, Session, use
from mufakat.sdk.lease import Lease, LeaseLost

TIME = duration.Duration()
LOST = 75
"""Exit code of a command that was ended because its lease was lost."""
GRACE_SECONDS = 5.0
LOOK_SECONDS = 0.1


@click.command(
    cls=Command, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option("-r", "--resource", "resources", multiple=True, required=True, metavar="RESOURCE")
@click.option("--ttl", default="60s", type=TIME, help="How long a lost guard holds others up.")
@click.option("--wait", default="0", type=TIME, help="How long to wait in the queue.")
@click.option("--reason", default="", metavar="TEXT", help="Others see it.")
@click.argument("argv", nargs=-1, required=True, metavar="COMMAND...")
@use
def command(
    session: Session, /, resources: tuple[str, ...], argv: tuple[str, ...], **options: object
) -> int:
    """Run a command only while a lease is held.

    The exit code is the command's, or 75 where the lease was lost meanwhile. The command gets
    MUFAKAT_RESOURCE and MUFAKAT_FENCE. When the lease is lost its whole process group is ended:
    first asked to, after five seconds killed.

    \b
    Example:
      mufakat guard -r branch:main --wait 5m -- git push
    """
    wanted = {
        "resources": paths.absolute(resources),
        "ttl": options["ttl"],
        "wait": options["wait"],
        "reason": options["reason"] or f"guard: {argv[0]}",
    }
    with attach.attached(session) as client:
        paths.register(client)
        lease = Lease(client, wanted)
        try:
            with lease:
                return _run(argv, lease)
        except LeaseLost as problem:
            click.echo(f"mufakat guard: {problem}", err=True)
            return LOST


def _run(argv: tuple[str, ...], lease: Lease) -> int:
    resource, fence = next(iter(lease.fences.items()))
    lease.check()
    child = subprocess.Popen(
        argv,
        env={**os.environ, "MUFAKAT_RESOURCE": resource, "MUFAKAT_FENCE": str(fence)},
        start_new_session=True,
    )
    try:
        while child.poll() is None:
            lease.check()
            time.sleep(LOOK_SECONDS)
    except BaseException:
        _end(child)
        raise
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        # What it started may outlive it: the group is killed in any case.
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
