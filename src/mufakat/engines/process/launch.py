"""Exec wrapper between the server and an agent CLI, run as a script in a fresh interpreter.

It sets what must hold in the child before its first instruction: a fork hook in a threaded server
can deadlock, this cannot. Arguments: status fd, pid of the server, flags, cwd, then the argv.
"""

import ctypes
import errno
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

READY = b"ready\n"
DIE_WITH_PARENT = "d"
ADOPT_ORPHANS = "a"
DROP_LC_CTYPE = "l"
NOT_STARTED = 127


def main(arguments: list[str]) -> None:
    """Prepare this process and become the CLI; on failure write the reason to the status pipe."""
    status_fd, parent, flags, cwd, *argv = arguments
    status = int(status_fd)
    os.set_inheritable(status, False)
    stage = "prepare"
    try:
        _default_signals()
        _process_flags(flags)
        if os.getppid() != int(parent):
            os._exit(NOT_STARTED)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        env = dict(os.environ)
        if DROP_LC_CTYPE in flags:
            env.pop("LC_CTYPE", None)
        stage = "chdir"
        os.chdir(cwd)
        stage = "exec"
        os.write(status, READY)
        os.execvpe(argv[0], argv, env)
    except OSError as error:
        os.write(status, f"{stage} {error.errno}".encode())
    except (IndexError, ValueError):
        os.write(status, f"{stage} {errno.EINVAL}".encode())
    os._exit(NOT_STARTED)


def _default_signals() -> None:
    # The interpreter ignores SIGPIPE and SIGXFSZ, and what is ignored stays so over exec.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _process_flags(flags: str) -> None:
    wanted: list[tuple[int, int]] = []
    if DIE_WITH_PARENT in flags:
        wanted.append((PR_SET_PDEATHSIG, signal.SIGKILL))
    if ADOPT_ORPHANS in flags:
        wanted.append((PR_SET_CHILD_SUBREAPER, 1))
    if not wanted:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in wanted:
        if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    main(sys.argv[1:])
