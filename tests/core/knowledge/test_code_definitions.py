"""What lines define, in many languages, and the pieces that files are cut into."""

from __future__ import annotations

import os
import random

import pytest

from mufakat.core.knowledge import code_definitions, code_pieces, code_prior


def names(text: str, ending: str) -> list[str]:
    return [one.name for one in code_definitions.find(text, ending)]


@pytest.mark.parametrize(
    ("ending", "line", "name"),
    [
        ("py", "    async def fetch(self):", "fetch"),
        ("py", "class Foo(Bar):", "Foo"),
        ("py", "LIMIT: int = 5", "LIMIT"),
        ("rs", "pub(crate) async fn run<T>(x: T) {", "run"),
        ("rs", "pub trait Extract<S, M = V>: Sized {", "Extract"),
        ("go", "func (s *Server) Serve(l net.Listener) error {", "Serve"),
        ("go", "type Handler interface {", "Handler"),
        ("ts", "export default async function load(x: number) {", "load"),
        ("ts", "export const schema = z.object({", "schema"),
        ("js", "app.use = function use(fn) {", "use"),
        ("java", "  public static final List<String> split(String text) {", "split"),
        ("kt", "internal suspend fun <T> await(x: T) {", "await"),
        ("cs", "    public override int GetHashCode() {", "GetHashCode"),
        ("c", "static int uv__run(uv_loop_t* loop, int mode) {", "uv__run"),
        ("h", "#define UV_VERSION 3", "UV_VERSION"),
        ("cpp", "void Foo::bar(int x) {", "Foo::bar"),
        ("rb", "  def self.call(env)", "self.call"),
        ("ex", "  defp put_in(x) do", "put_in"),
        ("hs", "parseValue :: Text -> Value", "parseValue"),
        ("lua", "function M.setup(opts)", "M.setup"),
        ("sh", "nvm_ls() {", "nvm_ls"),
        ("zig", "pub fn parse(x: u8) !void {", "parse"),
        ("swift", "public final class Session {", "Session"),
        ("scala", "sealed trait Monad[F] extends Functor[F] {", "Monad"),
        ("php", "    public function handle(array $record): bool", "handle"),
        ("md", "## How it works", "How it works"),
    ],
)
def test_a_definition_is_seen(ending: str, line: str, name: str) -> None:
    assert names(f"\n{line}\n", ending) == [name]


@pytest.mark.parametrize(
    ("ending", "line"),
    [
        ("c", "    return foo(bar);"), ("c", "  if (x) {"), ("js", "    call(a, b,"),
        ("py", "x = 1"), ("py", "    print(x)"), ("java", "  } else if (x) {"), ("rs", "// fn old"),
    ],
)  # fmt: skip
def test_a_statement_defines_nothing(ending: str, line: str) -> None:
    assert names(line, ending) == []


def test_what_only_adds_to_another_is_told_apart() -> None:
    found = list(code_definitions.find("impl Display for Foo {\nstruct Foo;\n", "rs"))
    assert [(one.name, one.extends) for one in found] == [("Display", True), ("Foo", False)]


def test_scopes_are_told_by_indentation() -> None:
    text = "class A:\n    def b(self):\n        def c(): pass\nclass D:\n    def e(self): pass\n"
    found = list(code_definitions.find(text, "py"))
    assert code_definitions.scopes(found) == ["A", "A.b", "A.c", "D", "D.e"]


def test_pieces_cover_every_line_once_whatever_the_file() -> None:
    seed = int(os.environ.get("SEED", "11"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    kinds = ["def f(x):", "class A:", "    pass", "", "# note", "@wrap", "x = 1", "}"]
    for _ in range(100):
        lines = [rng.choice(kinds) for _ in range(rng.randint(1, 300))]
        pieces = code_pieces.cut("\n".join(lines), lines, "py")
        covered = [n for piece in pieces for n in range(piece.start, piece.end)]
        assert covered == list(range(len(lines)))
        assert max(piece.end - piece.start for piece in pieces) <= code_pieces.LARGEST + 12


def test_a_piece_begins_with_what_belongs_to_its_definition() -> None:
    lines = ["x = 1"] * 20 + ["# About b.", "@wrap", "def b():", "    pass"]
    assert [(p.start, p.symbol) for p in code_pieces.cut("\n".join(lines), lines, "py")] == [
        (0, ""),
        (20, "b"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py", "src/a_test.go", "examples/a.py", "vendor/x/a.go", "a_pb2.py", "a.d.ts",
        "docs/a.md", "src/__init__.py", "dist/a.min.js", "poetry.lock",
    ],
)  # fmt: skip
def test_a_projects_own_code_comes_first(path: str) -> None:
    assert code_prior.of(path) < code_prior.of("src/a.py") == 1.0
