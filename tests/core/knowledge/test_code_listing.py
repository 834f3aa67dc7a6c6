"""A listing names as many files as its room holds, and can be read back."""

from __future__ import annotations

import random

from mufakat.core import tokens
from mufakat.core.knowledge import code_listing


def test_what_lies_in_one_folder_shares_a_line() -> None:
    paths = ["src/web/cookie.py", "README.md", "src/web/session.py", "src/web/my file.py"]
    text, listed = code_listing.write(paths, 1_000)
    assert listed == len(paths)
    assert text == 'README.md\nsrc/web/\n cookie.py session.py "my file.py"'


def test_the_folder_of_the_best_file_comes_first() -> None:
    text, _ = code_listing.write(["zoo/ant.py", "app/bee.py", "zoo/deep/cat.py"], 1_000)
    assert text == "zoo/\n ant.py\n deep/\n  cat.py\napp/\n bee.py"


def test_it_never_takes_more_than_its_room_and_drops_the_last_ones() -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    paths = [
        "/".join(f"part{chance.randrange(5)}" for _ in range(chance.randrange(1, 6))) + f"/{n}.py"
        for n in range(300)
    ]
    for room in (0, 1, 5, 100, 500, 100_000):
        text, listed = code_listing.write(paths, room)
        assert tokens.estimate(text) <= room
        names = {word for word in text.split() if word.endswith(".py")}
        assert names == {path.rpartition("/")[2] for path in paths[:listed]}
    assert listed == len(paths)


def test_it_holds_far_more_than_a_list_of_paths() -> None:
    paths = [f"library/active_record/adapters/postgres/column_{n}.rb" for n in range(400)]
    plain = 0
    for path in paths:
        plain += tokens.estimate(path + "\n")
        if plain > 1_024:
            break
    _, listed = code_listing.write(paths, 1_024)
    assert listed > 2 * paths.index(path)
