"""What a path alone says of a file: a project's own code first, tests and generated files last."""

from __future__ import annotations

import re

OWN = 1.0
_KINDS: tuple[tuple[re.Pattern[str], float], ...] = (
    (
        re.compile(
            r"(?:^|/)(?:vendor|vendored|third_party|thirdparty|external|node_modules|bower_components"
            r"|dist|build|generated|gen|__generated__|_vendor)/|[._-]min\.(?:js|css)$"
            r"|\.(?:pb|g|generated|designer)\.\w+$|_pb2(?:_grpc)?\.pyi?$|\.lock$|-lock\.\w+$|\.snap$",
            re.IGNORECASE,
        ),
        0.4,
    ),
    (
        re.compile(
            r"(?:^|/)(?:tests?|testing|specs?|__tests__|testdata|fixtures?|mocks?|__mocks__|e2e)/"
            r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*(?:_test|_spec|\.test|\.spec|Tests?|Spec)\.\w+)$"
        ),
        0.5,
    ),
    (
        re.compile(
            r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?|bench|docs?_src|tutorials?)/"
            r"|(?:^|/)(?:bench|example)_?[^/]*\.\w+$",
            re.IGNORECASE,
        ),
        0.6,
    ),
    (re.compile(r"\.(?:pyi|d\.ts)$|(?:^|/)(?:stubs?|typings|compat|legacy|deprecated)/"), 0.7),
    (re.compile(r"\.(?:md|rst|txt|adoc|json|ya?ml|toml|ini|cfg|xml|html?|css|svg|csv)$"), 0.6),
    (re.compile(r"(?:^|/)(?:__init__\.pyi?|__main__\.py|index\.[jt]sx?|mod\.rs|lib\.rs)$"), 0.9),
)


def of(path: str) -> float:
    """What a file's score is multiplied by, from 0 to 1."""
    worth = OWN
    for kind, factor in _KINDS:
        if kind.search(path):
            worth *= factor
    return worth
