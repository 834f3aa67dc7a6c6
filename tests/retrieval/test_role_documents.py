"""A user's own documents: what cannot be read is refused with the fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput
from mufakat.retrieval import role_documents


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_role_that_is_no_file_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "roles" / "mine.md"
    path.parent.mkdir()
    if kind == "link":
        path.symlink_to(tmp_path / "nowhere.md")
    else:
        path.mkdir()
    with pytest.raises(InvalidInput, match=r"mine\.md"):
        role_documents.roles(tmp_path)
