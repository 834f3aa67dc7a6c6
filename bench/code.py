"""Code search over annotated questions: quality, time to index, time to ask; and commits' files."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from bench import code_baselines, code_data, code_localisation, report
from bench.code_data import Place, Repository
from mufakat.core.knowledge import code_query
from mufakat.ports.knowledge import Indexed
from mufakat.retrieval.code import reading, store
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.refresh import Refresh
from mufakat.retrieval.code.searching import Reader
from mufakat.retrieval.code.walk import Walk

OURS = "**Mufakat**"
ASKED = 3
"""Times that a question is asked for its time; the middle one counts."""
Ranker = Callable[[str], list[Place]]


@dataclass(slots=True)
class Marks:
    """What one ranker reached, question by question."""

    fitted: list[float] = field(default_factory=list)
    reported: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def add(self, repository: Repository, value: float, ms: float) -> None:
        (self.fitted if repository.fitted else self.reported).append(value)
        self.ms.append(ms)

    def row(self, name: str) -> list[str]:
        both = (*self.fitted, *self.reported)
        means = [f"{fmean(values):.3f}" for values in (self.fitted, self.reported, both) if values]
        return [name, *means, f"{median(self.ms):.1f}", f"{_p95(self.ms):.1f}"]


@dataclass(slots=True)
class Work:
    """What indexing took over all repositories."""

    files: int = 0
    bytes: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def line(self) -> str:
        """The figures as one sentence."""
        scale = 1000 / max(self.files, 1)
        return (
            f"Indexing {self.files:,} files ({self.bytes / 1e6:.0f} MB) took {self.seconds:.1f} s: "
            f"{self.seconds * scale:.2f} s for 1,000 files, of that {self.cpu * scale:.2f} s of "
            f"processor time; {self.bytes / max(self.seconds, 1e-9) / 1e6:.1f} MB/s."
        )


def main(repos: Path, annotations: Path | None = None, history: Sequence[Path] = ()) -> str:
    """Measure over pinned checkouts; answers the tables as Markdown.

    `annotations` holds repos.json and annotations/, else MUFAKAT_BENCH_CODE names it; `history` are
    git directories whose commits' files are to be found.
    """
    questions = annotations or Path(os.environ.get("MUFAKAT_BENCH_CODE", ""))
    parts = [measure(code_data.load(questions, repos))]
    if history:
        parts.append(localise(history))
    return "\n\n".join(parts)


def measure(repositories: Sequence[Repository]) -> str:
    """Every ranker on every question, in one run."""
    marks: dict[str, Marks] = {}
    kinds: dict[str, Marks] = {}
    work = Work()
    for one in repositories:
        with tempfile.TemporaryDirectory() as folder:
            _repository(one, Path(folder) / "index.db", marks=marks, kinds=kinds, work=work)
    questions = sum(len(one.questions) for one in repositories)
    columns = ("ranker", "fitted half", "reported half", "all", "ms p50", "ms p95")
    rows = [found.row(name) for name, found in marks.items()]
    by_kind = [found.row(name)[:4] for name, found in sorted(kinds.items())]
    return "\n\n".join(
        (
            f"NDCG@10 of {questions} questions over {len(repositories)} repositories.",
            report.table(columns, rows),
            work.line(),
            report.table(("kind of question", *columns[1:4]), by_kind),
        )
    )


def _repository(
    one: Repository, file: Path, *, marks: dict[str, Marks], kinds: dict[str, Marks], work: Work
) -> None:
    with closing(store.open_store(file)) as index:
        began, cpu = time.perf_counter(), time.process_time()
        found: Indexed = Refresh(one.root, index, frozenset()).run()
        work.seconds += time.perf_counter() - began
        work.cpu += time.process_time() - cpu
    texts = _texts(one.root)
    work.files += found.files
    work.bytes += sum(map(len, texts.values()))
    reader = Reader.of(file)
    rankers: dict[str, Ranker | None] = {
        "ripgrep, the whole query": code_baselines.ripgrep(one.root),
        "grep of its words": code_baselines.grep(texts),
        "plain FTS5": code_baselines.fts5(texts),
        "plain BM25 over pieces": code_baselines.bm25(texts),
        OURS: _ours(reader),
    }
    for name, ranker in rankers.items():
        for question in one.questions if ranker is not None else ():
            answer, ms = _timed(ranker, question.text)  # type: ignore[arg-type]
            value = code_data.ndcg(answer, question, list(texts))
            marks.setdefault(name, Marks()).add(one, value, ms)
            if name == OURS:
                kinds.setdefault(question.kind, Marks()).add(one, value, ms)
    reader.close()


def _ours(reader: Reader) -> Ranker:
    def ask(query: str) -> list[Place]:
        places = []
        for ranked in reader.rank(code_query.parse(query), code_data.TOP):
            path = reader.outline.paths[ranked.file]
            row = reader.store.row(path)
            assert row is not None
            start, end, _ = row.pieces[ranked.piece - row.first]
            places.append((path, start + 1, end))
        return places

    return ask


def _timed(ranker: Ranker, query: str) -> tuple[list[Place], float]:
    times, answer = [], list[Place]()
    for _ in range(ASKED):
        began = time.perf_counter()
        answer = ranker(query)
        times.append((time.perf_counter() - began) * 1000)
    return answer, median(times)


def _texts(root: Path) -> dict[str, str]:
    """The texts that every ranker has: the same files for all."""
    found = {}
    with reading.opened(root) as folder:
        for entry in Walk(folder).files():
            try:
                found[entry.path] = reading.read(folder, entry.path).text
            except Refused:
                continue
    return found


def localise(repositories: Sequence[Path]) -> str:
    """The table of commits' files."""
    budgets = (f"{budget:,} tokens" for budget in code_localisation.BUDGETS)
    columns = ("repository", "half", "files of a commit by its message", *budgets)
    rows = [
        [name_of(repository), _half(name_of(repository)), *row]
        for repository in repositories
        for row in code_localisation.measure(repository)
    ]
    return report.table(columns, rows)


def name_of(repository: Path) -> str:
    """A repository's name from its git directory, `NAME/repo` or `NAME/.git`."""
    folder = repository.parent if repository.name in {"repo", ".git"} else repository
    return folder.name.rpartition("+")[2].removesuffix(".git")


def _half(name: str) -> str:
    return "fitted" if name in code_localisation.FITTED else "reported"


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]
