"""Documents fall into sections; docstrings and declarations are found without running anything."""

from __future__ import annotations

import time

from mufakat.core.knowledge import declarations, docstrings, document

MARKDOWN = """Before.

# Title

First words.

## Use

```sh
# not a heading
run it
```

### Deep

Deeper.

## Other

End.
"""
RST = """
Title
=====

Words.

Part
----

More words.
"""
SOURCE = '''"""What the module is for."""

import os


class Client:
    """Talks to the server, and keeps what it says."""

    def ask(
        self,
        text: str,  # the question
    ) -> str:
        """Ask a question and wait for the answer."""
        return """not a docstring"""

    def _hidden(self):
        """This one is nobody's business at all."""


def plain(): return 1


async def stream(path="def x(): y"):
    r\'\'\'Read events one by one, in order.\'\'\'


class _Private:
    def shown(self):
        """Inside something private, so not shown."""
'''
TYPES = """
/**
 * Options of the client.
 */
export interface Options {
  /** Milliseconds. */
  timeout?: number;
}

/** Ask once. */
export declare function ask(question: string): Promise<string>;
export default class Client {}
"""


def test_markdown_falls_into_sections_under_their_headings() -> None:
    found = [(one.heading, one.text) for one in document.sections(MARKDOWN)]
    assert found == [
        ("", "Before."),
        ("Title", "First words."),
        ("Title › Use", "```sh\n# not a heading\nrun it\n```"),
        ("Title › Use › Deep", "Deeper."),
        ("Title › Other", "End."),
    ]


def test_underlined_headings_are_headings_too() -> None:
    found = [(one.heading, one.text) for one in document.sections(RST)]
    assert found == [("Title", "Words."), ("Title › Part", "More words.")]


def test_a_long_section_is_cut_between_paragraphs_and_nothing_is_lost() -> None:
    body = "\n\n".join(f"Paragraph {n} " + "words " * 50 for n in range(40))
    found = document.parts(body)
    assert len(found) > 3
    assert all(len(one) <= document.SECTION_CHARS for one in found)
    assert "".join(found).replace(" ", "").replace("\n", "") == body.replace(" ", "").replace(
        "\n", ""
    )


def test_docstrings_of_public_names_are_found_by_their_place() -> None:
    found = {one.heading: one.text for one in docstrings.of(SOURCE, "pkg.mod")}
    assert list(found) == ["pkg.mod", "pkg.mod.Client", "pkg.mod.Client.ask", "pkg.mod.stream"]
    assert found["pkg.mod"] == "What the module is for."
    assert found["pkg.mod.Client.ask"].endswith("Ask a question and wait for the answer.")
    assert "def ask( self, text: str" in found["pkg.mod.Client.ask"]


def test_declarations_come_with_their_comments() -> None:
    found = {one.heading: one.text for one in declarations.of(TYPES)}
    assert list(found) == ["Options", "ask", "Client"]
    assert "Options of the client." in found["Options"]
    assert "timeout?: number" in found["Options"]
    assert "Ask once." in found["ask"]
    assert "Options of the client" not in found["ask"]


def test_hostile_files_take_no_time() -> None:
    began = time.process_time()
    for hostile in (
        '"""' * 150_001,
        "def a(" * 80_000,
        "def a():\n" * 40_000 + '"""' + "x" * 100_000,
        "/**" * 150_000 + "\nexport const a = 1",
        "export const a = 1\n" * 20_000,
        "#" * 500_000,
        "=" * 500_000,
        "=\n" * 250_000,
        "a\n===\n" * 80_000,
        "\u200b" * 1_000_000,
    ):
        list(docstrings.of(hostile, "m"))
        list(declarations.of(hostile))
        document.sections(hostile)
    assert time.process_time() - began < 20
