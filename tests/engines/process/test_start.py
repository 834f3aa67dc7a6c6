"""What a child is given, and what is said when it cannot be started."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import sys
from pathlib import Path

import pytest

from engines.process import measured
from engines.process.fake_engine import MB
from mufakat.engines.process import procfs, support
from mufakat.engines.process.command import Command, Ended, Limits, Line, environment

SHOW = """
import json, os, resource, signal, sys
print(json.dumps({
    "argv": sys.argv[1:],
    "env": {k: v for k, v in os.environ.items()},
    "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:4],
    "stdin": os.readlink("/proc/self/fd/0"),
    "session": os.getsid(0) == os.getpid() == os.getpgid(0),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "signals": open("/proc/self/status").read(),
    "cwd": os.getcwd(),
}))
"""


async def shown(folder: Path, *arguments: str, **more: object) -> tuple[Command, dict[str, object]]:
    argv = ("python3", "-I", "-S", "-X", "utf8", "-c", SHOW, *arguments)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"env": {"PATH": path, "LC_ALL": "C.UTF-8"}} | more
    command = measured.command(folder, *argv, **given)  # type: ignore[arg-type]
    run = await measured.measure(command)
    assert run.outcome.exit_code == 0, run.outcome.stderr_tail
    told = json.loads(run.lines[-1].text)
    assert isinstance(told, dict)
    return command, told


@pytest.mark.anyio
async def test_x1_x2_x12_what_a_child_is_given(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    try:
        command, told = await shown(tmp_path, "-x", "--", "", "two words", "汉 😀")
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGTERM, before)
    assert told["argv"] == ["-x", "--", "", "two words", "汉 😀"]
    assert told["env"] == {
        **command.env,
        procfs.RUN_MARK: command.run_id,
        procfs.HOME_MARK: command.home_id,
    }
    assert told["fds"] == [0, 1, 2, 3]  # 3 is the listing itself
    assert told["stdin"] == "/dev/null"
    assert told["session"] is True
    assert told["core"] == [0, 0]
    assert told["cwd"] == str(tmp_path)


@pytest.mark.anyio
async def test_signals_are_as_for_any_program(tmp_path: Path) -> None:
    # The interpreter of this test would ignore SIGPIPE, so ask a program that changes nothing.
    command = measured.command(tmp_path, "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
    run = await measured.measure(command)
    assert {int(line.text.split()[1], 16) for line in run.lines} == {0}


@pytest.mark.anyio
async def test_the_wrapper_adds_no_variable(tmp_path: Path) -> None:
    command = measured.command(tmp_path, "/usr/bin/env", env={})
    run = await measured.measure(command)
    assert {line.text for line in run.lines} == {
        f"{procfs.RUN_MARK}={command.run_id}",
        f"{procfs.HOME_MARK}={command.home_id}",
    }


def test_x1_only_named_variables_pass() -> None:
    base = {
        "PATH": "/bin",
        "LD_PRELOAD": "/evil.so",
        "GIT_EXTERNAL_DIFF": "evil",
        "RIPGREP_CONFIG_PATH": "/evil",
        "PYTHONSTARTUP": "/evil.py",
        "HOME": "/home/user",
    }
    made = environment(base, ("PATH", "HOME", "LANG"), {"HOME": "/private", "KEY": "1"})
    assert made == {"PATH": "/bin", "HOME": "/private", "KEY": "1"}
    assert "LD_PRELOAD" in base


def script(folder: Path, name: str, first_line: str, mode: int = 0o755) -> str:
    path = folder / name
    path.write_bytes(first_line.encode() + b"\n")
    path.chmod(mode)
    return str(path)


@pytest.mark.anyio
async def test_row_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    cases = {
        "no-such-agent-cli": "no-such-agent-cli: file not found",
        str(tmp_path / "nothing"): "file not found",
        script(tmp_path, "plain", "x", 0o644): "not executable",
        str(tmp_path): "not executable",
        script(tmp_path, "lost", "#!/no/such/node"): "the interpreter named in its first line",
        script(tmp_path, "text", "\x7fnot elf"): "not a program for this machine",
        "nul\0byte": "null byte",
    }
    for program, why in cases.items():
        outcome = (await measured.measure(measured.command(tmp_path, program, "x"))).outcome
        assert outcome.ended is Ended.NOT_STARTED
        assert outcome.exit_code is None
        assert why in outcome.why


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"argv": ("true", "x" * 200_000)}, "too long; pass long text by stdin"),
        ({"env": {"PATH": "/bin:/usr/bin", "A": "x" * 200_000}}, "too long"),
        ({"cwd": Path("/no/such/folder")}, "cannot enter the directory /no/such/folder"),
        ({"spool": Path("/proc/raw")}, "cannot write /proc/raw"),
        ({"argv": ()}, "no command"),
    ],
)
async def test_row_49_limits_of_the_system_are_named(
    tmp_path: Path, more: dict[str, object], why: str
) -> None:
    given = {"argv": ("true",)} | more
    argv = given.pop("argv")
    assert isinstance(argv, tuple)
    outcome = (await measured.measure(measured.command(tmp_path, *argv, **given))).outcome  # type: ignore[arg-type]
    assert outcome.ended is Ended.NOT_STARTED
    assert why in outcome.why


@pytest.mark.anyio
async def test_exit_code_127_of_the_program_itself_is_an_exit(tmp_path: Path) -> None:
    run = await measured.measure(measured.command(tmp_path, "sh", "-c", "exit 127"))
    assert (run.outcome.ended, run.outcome.exit_code) == (Ended.EXITED, 127)


@pytest.mark.anyio
async def test_row_49_a_long_prompt_goes_in_by_stdin(tmp_path: Path) -> None:
    prompt = bytes(range(256)) * 800
    run = await measured.measure(measured.command(tmp_path, "sha256sum", stdin=prompt))
    assert run.lines[0].text.split()[0] == hashlib.sha256(prompt).hexdigest()


@pytest.mark.anyio
async def test_a_child_that_echoes_a_long_prompt_does_not_deadlock(tmp_path: Path) -> None:
    prompt = (b"p" * 999 + b"\n") * 2000
    run = await measured.measure(measured.command(tmp_path, "cat", stdin=prompt))
    assert run.count == 2000
    assert run.outcome.stdout_bytes == len(prompt)


@pytest.mark.anyio
@pytest.mark.parametrize("program", ["exec <&-; sleep 0.3", "sleep 0.3", "head -c 10"])
async def test_a_child_that_does_not_read_its_prompt(tmp_path: Path, program: str) -> None:
    command = measured.command(tmp_path, "sh", "-c", program, stdin=b"p" * 5 * MB)
    run = await measured.measure(command)
    assert (run.outcome.ended, run.outcome.exit_code) == (Ended.EXITED, 0)


@pytest.mark.anyio
async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    async def fds() -> set[str]:
        return set(os.listdir("/proc/self/fd"))  # noqa: PTH208

    await measured.measure(measured.command(tmp_path, "true"))
    before = await fds()
    for argv in (("true",), ("no-such-agent-cli",), ("sh", "-c", "sleep 5 & exit 1")):
        limits = Limits(idle=30, total=30, grace=0.5, drain=0.2)
        await measured.measure(measured.command(tmp_path, *argv, stdin=b"x"), limits=limits)
    assert await fds() == before


@pytest.mark.anyio
async def test_the_wrapper_is_cheap(tmp_path: Path) -> None:
    async def cost() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = await cost()
    for _ in range(10):
        await measured.measure(measured.command(tmp_path, "true"))
    assert (await cost() - before) / 10 <= 0.025 * 3


def test_doctor_can_ask_what_the_platform_offers() -> None:
    assert support.platform_support() == support.Support(
        pdeathsig=True, subreaper=True, environ_sweep=True, pidfd=True
    )


@pytest.mark.anyio
async def test_lines_arrive_while_the_child_runs(tmp_path: Path) -> None:
    seen: list[str] = []

    async def on_line(line: Line) -> None:
        seen.append(line.text)
        (tmp_path / "go").touch()

    script_text = "echo one; while ! test -e go; do sleep 0.02; done; echo two"
    command = measured.command(tmp_path, "sh", "-c", script_text)
    await measured.measure(command, on_line=on_line)
    assert seen == ["one", "two"]
