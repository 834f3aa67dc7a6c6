"""Files of others: no format that can run something or grow without bound is ever read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput
from mufakat.retrieval import role_documents
from shape import sources

ARCHIVES = frozenset({"tarfile", "zipfile", "zipimport", "py7zr"})
RUNNERS = frozenset({"yaml", "ruamel", "pickle", "marshal", "shelve", "dill"})
BOMB = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: !!python/object/apply:os.system [touch x]\n"


def imported(tree: ast.Module) -> set[str]:
    """The packages that a module imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize(
    "forbidden",
    [pytest.param(ARCHIVES, id="row_58_archives"), pytest.param(RUNNERS, id="row_59_loaders")],
)
def test_rows_58_59_no_module_reads_such_a_format(forbidden: frozenset[str]) -> None:
    found = {source.name: imported(source.tree) & forbidden for source in sources.package()}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("line", ["import yaml", "from zipfile import ZipFile", "import pickle"])
def test_rows_58_59_twin_such_an_import_is_noticed(line: str) -> None:
    assert imported(ast.parse(line)) & (ARCHIVES | RUNNERS)


def test_row_59_the_head_of_a_role_is_lines_of_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    role = role_documents.role("mine", f"---\n{BOMB}---\nBe kind.", source="mine.md")
    assert role.text == "Be kind."
    assert list(tmp_path.iterdir()) == []


def test_row_59_a_role_cannot_be_given_more_than_there_is() -> None:
    with pytest.raises(InvalidInput, match="permission"):
        role_documents.role(
            "mine", "---\npermission: !!python/name:os.system\n---\nx", source="mine.md"
        )


def test_row_59_a_huge_role_is_refused(tmp_path: Path) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "big.md").write_text("x" * (role_documents.LARGEST + 1))
    with pytest.raises(InvalidInput, match="64 KiB"):
        role_documents.roles(tmp_path)
