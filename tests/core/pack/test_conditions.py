"""When a request is a question about code, or a review: named rules, each with its reason."""

from __future__ import annotations

import time

import pytest

from mufakat.core.pack import conditions

CODE = {
    "Where is the port chosen?": "asks",
    "fix parse_args": "identifier parse_args",
    "what does getUserName do": "identifier getUserName",
    "Does HttpClient retry?": "identifier HttpClient",
    "look at src/app.py": "path src/app.py",
    "look at ./lib/deep/thing": "path ./lib/deep/thing",
    "it calls app.run() twice": "call app.run()",
    'Traceback (most recent call last):\n  File "x.py", line 3': "stack trace",
    "    at Object.run (index.js:3:4)": "stack trace",
    "It ends with ValueError: bad": "stack trace or an error's name",
    "please refactor it": "“refactor”",
    "there is a bug": "“bug”",
    "fungsi mana yang memanggil ini?": "“fungsi”",
    "betulkan pepijat itu": "“betulkan”",
    "di mana nilai itu ditetapkan?": "“di mana”",
    "tolong tambah ujian": "“ujian”",
}
PLAIN = (
    "Write a poem about the sea.",
    "Tell me about GitHub and JavaScript.",
    "and/or he/she",
    "README.md",
    "See https://example.com/a/b/c.html",
    "e.g. this, i.e. that",
    "Selamat pagi, apa kabar?",
    "What did Ana say on 2026-11-30 at 10:30?",
    "",
)
REVIEW = {
    "Review PR #12": "PR #12",
    "please review this": "“review”",
    "diff --git a/x b/x\n@@ -1,2 +1,2 @@": "holds a diff",
    "what do my changes break?": "“my changes”",
    "look at the pull request": "“pull request”",
    "tolong tinjau perubahan itu": "“tinjau”",
    "buat semakan": "“semakan”",
    "is this branch ready?": "“this branch”",
}


@pytest.mark.parametrize(("prompt", "reason"), CODE.items())
def test_questions_about_code(prompt, reason):
    assert reason in conditions.code_question(prompt)


@pytest.mark.parametrize("prompt", PLAIN)
def test_other_questions_are_none(prompt):
    assert conditions.code_question(prompt) == ""
    assert conditions.review(prompt) == ""


@pytest.mark.parametrize(("prompt", "reason"), REVIEW.items())
def test_reviews(prompt, reason):
    assert reason in conditions.review(prompt)


def test_a_reviewer_reviews_and_a_touched_branch_counts_by_its_name():
    assert conditions.review("Go on.", role="reviewer") == "the role is reviewer"
    touched = ("a.py", "b.py")
    named = conditions.review("Is feature-x ready?", branch="feature-x", touched=touched)
    assert named == "it names the branch feature-x, which touches 2 files"
    assert conditions.review("Is main ready?", branch="main", touched=touched) == ""
    assert conditions.review("Is feature-x ready?", branch="feature-x") == ""


@pytest.mark.parametrize(
    ("prompt", "branch", "named"),
    [
        ("Is feature-x ready?", "feature-x", True),
        ("Is `fix/login` ready?", "fix/login", True),
        ("Is feature-xy ready?", "feature-x", False),
        ("Is my-feature-x ready?", "feature-x", False),
        ("Is main ready?", "main", False),
        ("Is the login branch ready?", "login", True),
        ("a.b", "a+b", False),
        ("x", "", False),
    ],
)
def test_a_branch_is_named_as_a_whole_word(prompt, branch, named):
    assert conditions.names_branch(prompt, branch) is named
    assert not named or conditions.may_name_branch(prompt)


@pytest.mark.parametrize("prompt", ["Write a poem about the sea.", "Apa kabar?", "", "1 - 2", "-x"])
def test_what_names_no_branch_needs_no_look_at_git(prompt):
    assert not conditions.may_name_branch(prompt)


def test_what_has_changed_is_counted():
    assert conditions.changes("main@1a2b3c4", 7) == "7 files changed since main@1a2b3c4"
    assert conditions.changes("main@1a2b3c4", 1) == "1 file changed since main@1a2b3c4"
    more = conditions.changes("main@1a2b3c4", 200, complete=False)
    assert more == "more than 200 files changed since main@1a2b3c4"


def test_names_of_code():
    paths, symbols = conditions.names("Does run_all() in src/app.py use HttpClient or GitHub?")
    assert paths == ("src/app.py",)
    assert symbols == ("run_all", "HttpClient")


@pytest.mark.parametrize("piece", ["a/", "a_", "aB", "a.", "at x", '"', "_" * 9 + "-", "Ab"])
def test_long_requests_take_little_time(piece):
    body = piece * (1_000_000 // len(piece))
    began = time.monotonic()
    conditions.code_question(body)
    conditions.review(body)
    conditions.names(body)
    conditions.may_name_branch(body)
    conditions.names_branch(body, piece * 20)
    assert time.monotonic() - began < 3
