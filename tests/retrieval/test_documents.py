"""Documents: project, content folders and installed packages, over one derived index."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mufakat.core.base import NotFound
from mufakat.retrieval.documents import index, local
from mufakat.retrieval.documents.chub import Chub
from mufakat.retrieval.documents.local import LocalDocuments

pytestmark = pytest.mark.anyio
SITE = ".venv/lib/python3.12/site-packages"


def put(root: Path, path: str, text: str) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def package(root: Path, name: str = "parcel", summary: str = "Sends parcels.") -> None:
    info = f"{SITE}/{name}-1.2.dist-info"
    put(
        root,
        f"{info}/METADATA",
        f"Name: {name}\nVersion: 1.2\nSummary: {summary}\n\n# Use\n\nCall it.\n",
    )
    put(
        root,
        f"{SITE}/{name}/__init__.py",
        'raise SystemExit("imported")\n\n\ndef dispatch(item):\n'
        '    """Hand a parcel to the courier and wait for the receipt."""\n',
    )
    put(
        root,
        f"{SITE}/{name}/tests/test_it.py",
        'def test_x():\n    """Courier in a test of the package."""\n',
    )
    record = [
        f"{name}/__init__.py,,",
        f"{name}/tests/test_it.py,,",
        "../../../../../etc/passwd.py,,",
    ]
    put(root, f"{info}/RECORD", "\n".join(record))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    put(root, "README.md", "# Shop\n\nA shop for tea.\n\n## Running\n\nStart it with `make up`.\n")
    put(root, "docs/guide/tax.md", "# Tax\n\n## Rounding\n\nAmounts are rounded half to even.\n")
    put(
        root,
        "docs/guide/refund.md",
        "# 退款\n\n我们的退款政策在此说明。\n\n# 환불 안내\n\n환불은 칠일.\n",
    )
    put(
        root,
        ".agents/hub/acme/docs/widgets/python/DOC.md",
        '---\nname: widgets\ndescription: "Widget API"\nmetadata:\n  languages: "python"\n'
        '  versions: "2.0.0"\n---\n# Widgets\n\n## Paging\n\nPages are opaque cursors.\n',
    )
    put(
        root,
        ".agents/hub/acme/docs/widgets/python/references/errors.md",
        "# Errors\n\nCode 418 means teapot.\n",
    )
    package(root)
    put(
        root,
        "node_modules/@acme/kettle/package.json",
        json.dumps(
            {"name": "@acme/kettle", "description": "Boils water", "types": "./lib/main.d.ts"}
        ),
    )
    put(root, "node_modules/@acme/kettle/README.md", "# Kettle\n\nFill before use.\n")
    put(
        root,
        "node_modules/@acme/kettle/lib/main.d.ts",
        "/** Heats to so many degrees. */\nexport function boil(celsius: number): void;\n",
    )
    return root


@pytest.fixture
def documents(tmp_path: Path) -> LocalDocuments:
    return LocalDocuments(tmp_path / "own", Chub({"PATH": ""}), seconds=60)


@pytest.mark.parametrize(
    ("query", "document", "section"),
    [
        ("round half even", "docs/guide/tax.md", "Tax › Rounding"),
        ("how do I start it", "README.md", "Shop › Running"),
        ("opaque cursors", "acme/widgets/python", "Widgets › Paging"),
        ("teapot", "acme/widgets/python", "errors.md › Errors"),
        ("courier receipt", "parcel", "parcel.dispatch"),
        ("heats degrees", "@acme/kettle", "boil"),
        ("退款政策", "docs/guide/refund.md", "退款"),
        ("환불", "docs/guide/refund.md", "환불 안내"),
    ],
)
async def test_every_kind_of_document_is_found_by_its_text(
    root: Path, documents: LocalDocuments, query: str, document: str, section: str
) -> None:
    found = (await documents.search(root, query)).passages
    assert (found[0].document, found[0].section) == (document, section)
    assert 0 < found[0].score <= 1
    got = await documents.get(root, document, section=section)
    assert got.text == found[0].text


async def test_what_changed_is_read_again_and_what_is_gone_is_forgotten(
    root: Path, documents: LocalDocuments
) -> None:
    assert (await documents.search(root, "rounded")).passages
    put(root, "docs/guide/tax.md", "# Tax\n\nEverything is truncated now, always.\n")
    (root / "README.md").unlink()
    assert not (await documents.search(root, "rounded")).passages
    assert (await documents.search(root, "truncated")).passages
    assert not (await documents.search(root, "tea shop")).passages


async def test_the_beginning_names_all_sections(root: Path, documents: LocalDocuments) -> None:
    whole = await documents.get(root, "acme/widgets/python")
    assert "Widget API · languages: python · versions: 2.0.0" in whole.text
    assert "- Widgets › Paging" in whole.text
    assert "errors.md › Errors" in whole.text


async def test_what_is_not_there_is_answered_with_the_nearest(
    root: Path, documents: LocalDocuments
) -> None:
    with pytest.raises(NotFound) as problem:
        await documents.get(root, "parcels")
    assert "parcel" in problem.value.fix
    with pytest.raises(NotFound) as problem:
        await documents.get(root, "parcel", section="dispatching")
    assert "parcel.dispatch" in problem.value.fix
    found = await documents.search(root, "zzzz qqqq")
    assert not found.passages
    assert found.why


@pytest.mark.parametrize(
    "query",
    [
        "-x /y @z #w",
        "a AND OR NOT NEAR(b c)",
        '"open',
        "(((",
        "body:x ^y *",
        "\0",
        "",
        "the of and",
        "😀" * 50,
        "x" * 100_000,
    ],
)
async def test_no_query_breaks_the_search(
    root: Path, documents: LocalDocuments, query: str
) -> None:
    await documents.search(root, query)


async def test_nothing_outside_of_the_project_is_read(
    root: Path, documents: LocalDocuments, tmp_path: Path
) -> None:
    outside = put(tmp_path, "outside/secret.md", "# Secret\n\nThe pelican lands at noon.\n")
    package(tmp_path / "outside", "elsewhere", "Pelican.")
    (root / "docs/link.md").symlink_to(outside)
    (root / "docs/folder").symlink_to(outside.parent)
    (root / "venv").symlink_to(tmp_path / "outside/.venv")
    (root / SITE / "parcel/more.py").symlink_to(outside)
    put(root, f"{SITE}/parcel-1.2.dist-info/RECORD", "parcel/more.py,,\n/etc/passwd.py,,\n")
    os.mkfifo(root / "docs/fifo.md")
    with (root / "docs/sparse.md").open("wb") as sparse:
        sparse.truncate(5 << 30)
    assert not (await documents.search(root, "pelican noon root")).passages


async def test_a_short_time_limit_reads_on_at_the_next_question(root: Path, tmp_path: Path) -> None:
    documents = LocalDocuments(tmp_path / "own", Chub({"PATH": ""}), seconds=-1)
    found = await documents.search(root, "courier")
    assert "not read yet" in found.why
    documents._seconds = 60
    assert (await documents.search(root, "courier")).passages


async def test_a_damaged_index_is_made_again(root: Path, documents: LocalDocuments) -> None:
    assert (await documents.search(root, "courier")).passages
    path = documents._index(root)._path
    for beside in path.parent.iterdir():
        beside.write_bytes(b"no database at all" * 500)
    assert (await documents.search(root, "courier")).passages


async def test_projects_have_indexes_of_their_own(
    root: Path, documents: LocalDocuments, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    put(other, "README.md", "# Other\n\nA quite different courier.\n")
    assert {one.document for one in (await documents.search(other, "courier")).passages} == {
        "README.md"
    }
    assert "parcel" in {one.document for one in (await documents.search(root, "courier")).passages}


def test_a_question_is_quoted_and_bounded() -> None:
    assert index.expression("fetchUserId") == '"fetchuserid" OR "fetch" OR "user" OR "id"'
    assert index.expression("the and of") == ""
    assert len(index.expression("word " + " ".join(map(str, range(5000))))) < 1000


STAND_IN = """#!/bin/sh
echo "$@ telemetry=$CHUB_TELEMETRY secret=$SECRET" >> "{log}"
case "$2" in
search) echo '{{"results": [{{"id": "acme/remote", "description": "Far away"}}, {{"no": 1}}]}}' ;;
get) [ "$4" = acme/remote ] || exit 1
    printf '%s' '{{"id": "acme/remote", "content": "# Remote\\n\\nFrom afar.\\n"}}' ;;
esac
"""


def stand_in(tmp_path: Path, script: str = STAND_IN) -> dict[str, str]:
    program = put(tmp_path, "bin/chub", script.format(log=tmp_path / "log"))
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.defpath}", "SECRET": "s3cret"}


async def test_chub_is_asked_where_it_is_on_path(root: Path, tmp_path: Path) -> None:
    documents = LocalDocuments(tmp_path / "own", Chub(stand_in(tmp_path)), seconds=60)
    found = (await documents.search(root, "--output=/tmp/x courier")).passages
    assert [one.document for one in found] == ["parcel", "acme/remote"]
    assert (await documents.get(root, "acme/remote", section="Remote")).text == "From afar."
    with pytest.raises(NotFound, match="chub did not answer in JSON"):
        await documents.get(root, "nobody/nothing")
    log = (tmp_path / "log").read_text()
    assert "--json search --limit 5 -- --output=/tmp/x courier telemetry=0 secret=\n" in log


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/bin/sh\nsleep 60 &\nwait\n", "longer than"),
        ("#!/bin/sh\nyes\n", "more than is read"),
        ("#!/bin/sh\necho no json\n", "JSON"),
        ("#!/bin/sh\necho '[1]'\n", "something else"),
        ("#!/no/such/program\n", "cannot be started"),
    ],
)
async def test_a_chub_that_does_not_answer_says_why_and_costs_its_time_limit(
    root: Path, tmp_path: Path, script: str, why: str
) -> None:
    chub = Chub(stand_in(tmp_path, script), seconds=0.5)
    found = await LocalDocuments(tmp_path / "own", chub, seconds=60).search(root, "courier")
    assert found.passages[0].document == "parcel"
    assert why in found.why


def test_the_limits_are_as_documented() -> None:
    assert local.HUB == ".agents/hub"
