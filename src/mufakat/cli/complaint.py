"""How an error is shown: what happened, what mends it, and the exit code; never a traceback."""

from __future__ import annotations

import errno
import inspect
import os
import traceback
from dataclasses import dataclass
from pathlib import Path

import click

from mufakat.cli import exit_codes, output
from mufakat.cli.session import Session
from mufakat.core import secrets
from mufakat.core.base import MufakatError
from mufakat.core.terminal_text import clean
from mufakat.sdk import home
from mufakat.sdk.errors import ServerError


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error in the words of the command line."""

    code: str
    message: str
    fix: str
    exit_code: int


def report(session: Session, problem: Exception) -> int:
    """Print an error on stderr; answers the exit code."""
    complaint = read(session, problem)
    show(session, complaint.code, complaint.message, fix=complaint.fix)
    return complaint.exit_code


def show(session: Session, code: str, message: str, *, fix: str) -> None:
    """Print one error on stderr, as text for people or as JSON for programs."""
    if session.json_errors:
        error = {"error": {"code": code, "message": message, "fix": fix}}
        click.echo(output.json_line(error), err=True)
        return
    click.echo(f"error: {clean(message)}", err=True)
    if fix:
        click.echo(f"fix: {clean(fix)}", err=True)


def read(session: Session, problem: Exception) -> Complaint:
    """Tell what an exception means to the user."""
    match problem:
        case MufakatError():
            return _own(problem)
        case ServerError():
            code = exit_codes.of_error(problem.code, problem.status)
            return Complaint(problem.code, str(problem), problem.fix, code)
        case click.UsageError():
            place = problem.ctx.command_path if problem.ctx else "mufakat"
            fix = f"See `{place} --help`."
            return Complaint("usage", problem.format_message(), fix, exit_codes.INVALID)
        case click.ClickException():
            return Complaint("usage", problem.format_message(), "", exit_codes.INVALID)
        case OSError() if problem.filename and _within(session, str(problem.filename)):
            return _home(session, problem)
    return _crash(session, problem)


def _within(session: Session, name: str) -> bool:
    return Path(name).is_relative_to(session.home)


def _home(session: Session, problem: OSError) -> Complaint:
    """The home cannot be used as it is."""
    code = "storage_full" if problem.errno == errno.ENOSPC else "invalid_input"
    message = f"{problem.filename} cannot be used: {problem.strerror}."
    fix = "Mend it, or choose another folder with --home."
    return Complaint(code, message, fix, exit_codes.of_error(code))


def _own(problem: MufakatError) -> Complaint:
    message, advice = str(problem), inspect.getdoc(type(problem)) or ""
    fix = problem.fix or (advice if advice != message else "")
    return Complaint(problem.code, message, fix, exit_codes.of_error(problem.code))


def _crash(session: Session, problem: Exception) -> Complaint:
    """A fault of our own: the details go to a log, the person gets one line."""
    what = secrets.scrub(f"{type(problem).__name__}: {problem}".splitlines()[0]).text
    log = session.home / home.CRASH_LOG
    try:
        home.private_folder(log.parent)
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.write(secrets.scrub("".join(traceback.format_exception(problem))).text)
    except OSError:
        return Complaint("internal", f"A fault in Mufakat: {what}", "", exit_codes.FAILED)
    fix = f"The details are in {log}; please report them."
    return Complaint("internal", f"A fault in Mufakat: {what}", fix, exit_codes.FAILED)
