"""Kinds of secrets that are known by their look: a hint that is cheap to find, and the shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

VALUE = "value"
"""Group of a shape that holds the secret; the whole match where there is none."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One look of a kind; it can only match where `hint` stands."""

    kind: str
    hint: str
    expression: str


@cache
def pattern(shape: Shape) -> re.Pattern[str]:
    """The shape, compiled when it is first needed: most never are."""
    return re.compile(shape.expression)


_BEFORE = (
    "(?<![A-Za-z0-9_-]{0})",
    r"(?<=\\[nrt]{0})",
    "(?<=%[0-9A-Fa-f][0-9A-Fa-f]{0})",
    r"(?<=\\u00[0-9A-Fa-f][0-9A-Fa-f]{0})",
    "(?<=[0-9]m{0})",
)
"""What may stand before a word: no letter, or the last letter of an escape or a colour."""


def word(begin: str, rest: str) -> str:
    """A word by its beginning; tried at the start of a word alone, so that it is read once."""
    return f"{begin}(?:{'|'.join(before.format(begin) for before in _BEFORE)}){rest}"


_WORDS: tuple[tuple[str, str, str], ...] = (
    ("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{20,250}"),
    ("model-key", "sk-or-v1-", r"[0-9a-f]{40,80}"),
    ("model-key", "gsk_", r"[A-Za-z0-9]{40,80}"),
    ("model-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    ("model-key", "pplx-", r"[A-Za-z0-9]{40,60}"),
    ("model-key", "r8_", r"[A-Za-z0-9]{37}"),
    (
        "openai-key",
        "sk-",
        r"(?:proj-|svcacct-|admin-)?(?=[A-Za-z_-]{0,60}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])"
        r"[A-Za-z0-9_-]{20,250}",
    ),
    ("github-token", "gh", r"[pousr]_[A-Za-z0-9]{36,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        "gl",
        r"(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-"
        r"(?=[a-z_-]{0,60}[0-9A-Z])[A-Za-z0-9_-]{20,100}(?:\.[0-9a-z]{2}\.[0-9a-z]{9})?",
    ),
    ("google-key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("google-oauth", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    ("google-oauth", "ya29.", r"[A-Za-z0-9_-]{20,1000}"),
    ("google-oauth", "1//0", r"[A-Za-z0-9_-]{40,200}"),
    ("aws-key-id", "AKIA", r"[A-Z0-9]{16}\b"),
    ("aws-key-id", "ASIA", r"[A-Z0-9]{16}\b"),
    ("slack-token", "xox", r"[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,250}"),
    ("slack-token", "xapp-", r"[0-9]-[A-Z0-9]{6,20}-[0-9]{6,20}-[A-Za-z0-9]{16,100}"),
    ("stripe-key", "sk_", r"(?:live|test|prod)_[A-Za-z0-9]{16,250}"),
    ("stripe-key", "rk_", r"(?:live|test|prod)_[A-Za-z0-9]{16,250}"),
    ("stripe-key", "whsec_", r"[A-Za-z0-9+/=]{24,100}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("mailgun-key", "pubkey-", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}"),
    ("pypi-token", "pypi-AgE", r"[A-Za-z0-9_-]{50,1000}"),
    ("docker-token", "dckr_", r"[po]at_[A-Za-z0-9_-]{20,100}"),
    ("huggingface-token", "hf_", r"(?=[A-Za-z]{0,60}[0-9A-Z])[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])"),
    ("huggingface-token", "api_org_", r"[A-Za-z0-9]{30,60}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])"),
    ("digitalocean-token", "do", r"[opr]_v1_[0-9a-f]{64}"),
    ("heroku-key", "HRKU-", r"[A-Za-z0-9_-]{36,100}"),
    ("linear-key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{32,100}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    ("notion-token", "secret_", r"(?=[A-Za-z]{0,43}[0-9])[A-Za-z0-9]{43}(?![A-Za-z0-9_])"),
    ("shopify-token", "shp", r"(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{32}"),
    ("vault-token", "hv", r"[sbr]\.(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{24,300}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    ("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{60,400}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    ("mufakat-token", "mf_", r"[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"),
    (
        "jwt",
        "eyJ",
        r"[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,16000}\.[A-Za-z0-9_-]{16,2000}",
    ),
)
"""Kind, beginning of the word, the rest of it; what is longer and special stands first."""

_BLOCK = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY = (
    rf"-----BEGIN {_BLOCK}(?:(?:(?!-----)[\s\S]){{0,20000}}-----END {_BLOCK}"
    r"|(?:[\s\"'+,>|\\nr]{1,40}[A-Za-z0-9+/=]{16,200}){1,400})"
)
_MEMBER = r"private_key\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\""

_BLOCKS: tuple[tuple[str, str, str], ...] = (
    ("gcp-service-account", "private_key", rf"{_MEMBER}(?P<{VALUE}>{_KEY})"),
    ("private-key", "-----BEGIN", _KEY),
)
"""Keys of many lines; looked for first, since their letters may look like anything."""

_PLACES: tuple[tuple[str, str, str], ...] = (
    ("azure-key", "AccountKey=", rf"AccountKey=(?P<{VALUE}>[A-Za-z0-9+/]{{80,90}}={{0,2}})"),
    ("azure-key", "AccessKey=", rf"SharedAccessKey=(?P<{VALUE}>[A-Za-z0-9+/]{{43}}=)"),
    ("azure-key", "8Q~", r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}"),
    ("azure-key", "sig=", rf"[?&;]sig=(?P<{VALUE}>[A-Za-z0-9+/%]{{40,80}}={{0,2}})"),
    (
        "slack-webhook",
        "hooks.slack.com/",
        rf"hooks\.slack\.com/(?P<{VALUE}>(?:services|workflows|triggers)/[A-Za-z0-9/_-]{{24,200}})",
    ),
    (
        "discord-webhook",
        "/webhooks/",
        rf"/webhooks/(?P<{VALUE}>[0-9]{{17,20}}/[A-Za-z0-9_-]{{60,80}})",
    ),
    (
        "discord-token",
        ".",
        word(
            "[MNO]",
            r"[DTjz][AEIMQUYcgk][w-z0-5](?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){4}"
            r"[A-Za-z0-9_-]{3,8}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        ),
    ),
    ("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    (
        "url-password",
        "://",
        rf"://(?P<{VALUE}>(?!\[secret:)[^\s:/@\"'`{{}}$<>%*]{{0,128}}:(?![$<{{*%])(?!\[secret:)"
        r"[^\s/@\"'`{}<>]{3,256})@",
    ),
)
"""Looks that hang on what stands before or behind; the last, since they hold parts of others."""


def _shapes() -> Iterator[Shape]:
    yield from (Shape(*row) for row in _BLOCKS)
    yield from (Shape(kind, prefix, word(re.escape(prefix), rest)) for kind, prefix, rest in _WORDS)
    yield from (Shape(*row) for row in _PLACES)


SHAPES: tuple[Shape, ...] = tuple(_shapes())
"""In the order in which they are looked for."""
KINDS: tuple[str, ...] = tuple(dict.fromkeys(shape.kind for shape in SHAPES))
