"""Conditions that switch sections on in any mode: a question about code, a review, a branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HEAD_CHARS, TAIL_CHARS = 20_000, 4_000
"""Of a longer request only its two ends are looked at."""
EXTENSIONS = (
    "py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|cs|rb|php|swift|mm|"
    "sh|bash|zsh|ps1|sql|toml|yaml|yml|json|ini|cfg|lock|lua|pl|ex|exs|erl|hs|ml|clj|dart|jl|"
    "vue|svelte|html|css|scss|proto|tf|gradle|cmake|zig|nim"
)
_START = r"(?<![\w/@.-])"
_PATH = re.compile(
    rf"{_START}((?:[\w.-]{{1,80}}/){{0,12}}[\w.-]{{1,80}}\.(?:{EXTENSIONS}))"
    r"(?![\w/-]|\.\w)",
    re.ASCII,
)
_FOLDER = re.compile(
    r"(?<![\w/:.])((?:\.{0,2}/)?\.?[\w-]{1,80}/(?:[\w.-]{1,80}/){1,12}[\w.-]{0,80})", re.ASCII
)
_CALL = re.compile(r"(?<!\w)([A-Za-z_][\w.]{1,80}\(\))", re.ASCII)
_SNAKE = re.compile(
    rf"{_START}(_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}(?:_[A-Za-z0-9]{{1,40}}){{1,8}}_{{0,2}})(?!\w)",
    re.ASCII,
)
_CAMEL = re.compile(
    rf"{_START}([a-z][a-z0-9]{{1,40}}(?:[A-Z][a-z0-9]{{1,40}}){{1,8}}"
    r"|(?:[A-Z][a-z0-9]{1,40}){2,8})(?!\w)",
    re.ASCII,
)
_TRACE = re.compile(
    r"Traceback \(most recent call last\)|^[ \t]{0,12}at [\w.$<>]{1,200} ?\([^()\n]{1,200}:\d|"
    r'File "[^"\n]{1,200}", line \d|\bpanic: |\berror\[E\d{4}\]|'
    r"\b[A-Z]\w{0,60}(?:Error|Exception)\b",
    re.MULTILINE | re.ASCII,
)
_WHERE = re.compile(
    r"\bwhere (?:is|are|do|does|did)\b|\bhow does\b.{0,80}\bwork\b|\bwhat calls\b|\bwho calls\b|"
    r"\bdi ?mana(?:kah)?\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    "GitHub|GitLab|JavaScript|TypeScript|YouTube|LinkedIn|OpenAI|PostgreSQL|MySQL|MacBook|iPhone|"
    "iPad|PowerPoint|WhatsApp|LaTeX|OpenCode|ChatGPT|PayPal|McDonald|DeepSeek|StackOverflow"
)
"""Words that only look like identifiers."""
ENGLISH = (
    "functions?|class|classes|methods?|variables?|parameters?|argument|bugs?|tests?|testing|"
    "unittest|refactor|refactoring|compiles?|compiler|exception|traceback|stacktrace|modules?|"
    "imports?|implement|implemented|implementation|code|codebase|repository|endpoint|api|regex|"
    "debug|debugging|lint|linter|typing|async|deadlock|segfault|callback|decorator|migration|"
    "schema|query|dependency"
)
INDONESIAN_AND_MALAY = (
    "fungsi|kelas|metode|kaedah|variabel|pembolehubah|kode|kod|kutu|pepijat|galat|ralat|uji|ujian|"
    "pengujian|modul|impor|implementasi|pelaksanaan|kompilasi|pustaka|repositori|perbaiki|betulkan|"
    "berkas|pengecualian|refaktor"
)
_CODE_WORD = re.compile(rf"(?<![\w-])(?:{ENGLISH}|{INDONESIAN_AND_MALAY})(?![\w-])", re.IGNORECASE)
"""Words of people who ask about code."""
_REVIEW = re.compile(
    r"\b(code review|reviews?|reviewing|reviewer|pull request|merge request|diff|"
    r"tinjau|tinjauan|meninjau|ulas|ulasan|semak|semakan|menyemak)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<!\w)(PR ?#?\d{1,7}|MR ?!?\d{1,7})(?!\w)")
_DIFF = re.compile(r"^diff --git |^@@ -\d{1,9}(?:,\d{1,9})? \+\d|^--- a/", re.MULTILINE)
_CHANGES = re.compile(
    r"\b(?:this|my|our|current) (?:branch|changes?|commits?)\b|\buncommitted\b|"
    r"\b(?:cabang|cawangan) ini\b|\bperubahan (?:saya|ini|kami)\b",
    re.IGNORECASE,
)
_BRANCH = re.compile(
    r"\b(?:branch|cabang|cawangan)\b|(?<![^\s\"'`(“])[A-Za-z][\w.]{0,80}[-/_][\w./-]{0,80}\w",
    re.IGNORECASE,
)
"""The word, or a name in parts: what is worth a look at the branch that is checked out."""
TRUNKS = frozenset({"main", "master", "trunk", "develop", "dev"})


@dataclass(frozen=True, slots=True)
class Conditions:
    """Which conditions a request fulfils: why, or empty where it does not."""

    code_question: str = ""
    review: str = ""
    changes: str = ""
    """What a review finds changed, and since when."""
    branch: str = ""
    """From where it branched."""


def code_question(prompt: str) -> str:
    """Why a request is a question about code; empty where nothing says so."""
    body = _ends(prompt)
    if _TRACE.search(body):
        return "it holds a stack trace or an error's name"
    for what, pattern in (("path", _PATH), ("call", _CALL), ("path", _FOLDER)):
        if found := pattern.search(body):
            return f"it names the {what} {found[1][:80]}"
    for pattern in (_SNAKE, _CAMEL):
        for found in pattern.finditer(body):
            if not _NAME.fullmatch(found[1]):
                return f"it names the identifier {found[1][:80]}"
    if found := _WHERE.search(body):
        return f"it asks “{' '.join(found[0].split())[:40]}”"
    word = _CODE_WORD.search(body)
    return f"it says “{word[0]}”" if word else ""


def review(prompt: str, *, role: str = "", branch: str = "", touched: Sequence[str] = ()) -> str:
    """Why a request is a review; empty where nothing says so.

    `touched` are files that differ on the `branch` that the project stands on.
    """
    body = _ends(prompt)
    if role == "reviewer":
        return "the role is reviewer"
    if _DIFF.search(body):
        return "it holds a diff"
    for pattern in (_NUMBER, _REVIEW):
        if found := pattern.search(body):
            return f"it says “{found[1]}”"
    if found := _CHANGES.search(body):
        return f"it says “{found[0]}”"
    if touched and names_branch(prompt, branch):
        return f"it names the branch {branch[:80]}, which touches {counted(len(touched), 'file')}"
    return ""


def may_name_branch(prompt: str) -> bool:
    """Whether a request holds anything that a branch could be called by."""
    return bool(_BRANCH.search(_ends(prompt)))


def names_branch(prompt: str, branch: str) -> bool:
    """Whether a request names this branch, as a whole word; a trunk is no branch to be named."""
    if len(branch) <= 3 or branch in TRUNKS:
        return False
    whole = rf"(?<![\w/-]){re.escape(branch)}(?![\w/-])"
    return bool(re.search(whole, _ends(prompt)))


def changes(base: str, count: int, *, complete: bool = True) -> str:
    """What a look at the branch has found, for the receipt."""
    files = counted(count, "file") if complete else f"more than {counted(count, 'file')}"
    return f"{files} changed since {base[:120]}"


def counted(count: int, what: str) -> str:
    """A number with its noun."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _ends(prompt: str) -> str:
    if len(prompt) <= HEAD_CHARS + TAIL_CHARS:
        return prompt
    return f"{prompt[:HEAD_CHARS]}\n{prompt[-TAIL_CHARS:]}"


def names(request: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Paths of code, and identifiers, that a request names; each once, in order."""
    body = _ends(request)
    paths = dict.fromkeys(found[1] for found in _PATH.finditer(body))
    calls = [found[1].removesuffix("()") for found in _CALL.finditer(body)]
    others = [found[1] for pattern in (_SNAKE, _CAMEL) for found in pattern.finditer(body)]
    symbols = dict.fromkeys(
        name for name in (*calls, *others) if not _NAME.fullmatch(name) and name not in paths
    )
    return tuple(paths), tuple(symbols)
