"""Made-up secrets of every kind, and text that only looks as if it held some."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Sequence

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"


def word(chance: random.Random, size: int, letters: str = ALNUM) -> str:
    """A random word with a digit, a small and a capital letter in its first four."""
    return "".join(("x", "7", "Q", *chance.choices(letters, k=size - 3)))


def part(chance: random.Random, size: int) -> str:
    """A part of a JWT."""
    data = json.dumps({"sub": word(chance, size)}).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def key_block(chance: random.Random, end: bool = True) -> str:
    """A private key as files hold it."""
    name = chance.choice(("RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""))
    lines = [word(chance, 64, ALNUM + "+/") for _ in range(chance.randrange(3, 25))]
    close = f"\n-----END {name}PRIVATE KEY-----" if end else ""
    return f"-----BEGIN {name}PRIVATE KEY-----\n" + "\n".join(lines) + close


def _openai(chance: random.Random) -> str:
    prefix = chance.choice(("sk-", "sk-proj-", "sk-svcacct-", "sk-admin-"))
    return prefix + word(chance, chance.choice((48, 120)))


def _github(chance: random.Random) -> str:
    old = f"gh{chance.choice('pousr')}_{word(chance, 36)}"
    return chance.choice((old, f"github_pat_{word(chance, 82)}"))


def _aws(chance: random.Random) -> str:
    letters = string.ascii_uppercase + string.digits
    return chance.choice(("AKIA", "ASIA")) + "".join(chance.choices(letters, k=16))


def _jwt(chance: random.Random) -> str:
    size = chance.choice((10, 300, 5_000))
    return f"{part(chance, 12)}.{part(chance, size)}.{word(chance, 43, URL_SAFE)}"


def _key(chance: random.Random) -> str:
    block = key_block(chance, end=chance.random() < 0.8)
    return json.dumps(block)[1:-1] if chance.random() < 0.3 else block


MAKE: dict[str, Callable[[random.Random], str]] = {
    "private-key": _key,
    "anthropic-key": lambda chance: f"sk-ant-api03-{word(chance, 90, URL_SAFE)}A",
    "openai-key": _openai,
    "github-token": _github,
    "google-key": lambda chance: f"AIza{word(chance, 35)}",
    "aws-key-id": _aws,
    "mufakat-token": lambda c: f"mf_{word(c, 43, URL_SAFE)}",
    "slack-token": lambda c: f"xox{c.choice('abeoprs')}-{c.randrange(10**11)}-{word(c, 24)}",
    "jwt": _jwt,
    "url-password": lambda chance: f"app:{word(chance, chance.randrange(8, 40))}",
    "assigned-secret": lambda c: word(c, c.randrange(12, 60), ALNUM + "+/._-!#^&"),
}


def samples(kind: str, chance: random.Random) -> tuple[str, str]:
    """A secret of `kind`, and a text that holds it."""
    secret = MAKE[kind](chance)
    around: Sequence[str] = ("%s", "key=%s", '{"k": "%s"}', "`%s`", "at %s, ok")
    match kind:
        case "private-key":
            around = ("file:\n%s",)
        case "url-password":
            around = ("postgres://%s@db.internal:5432/app", "redis://%s@cache")
        case "assigned-secret":
            around = ASSIGNMENTS
    return secret, chance.choice(around) % secret


ASSIGNMENTS = (
    'password = "%s"',
    "DB_PASSWORD='%s'",
    '"client_secret": "%s",',
    "api_key: '%s'",
    'SECRET_KEY := "%s"',
    "'auth_token' => '%s'",
    'aws_secret_access_key="%s"',
    'Authorization: Bearer "%s"',
    'if password == "%s":',
)

ORDINARY = (
    'password = getpass.getpass("Password for sha256: ")',
    "password = hashlib.sha256(data).hexdigest()",
    "self.api_key = settings.openai_api_key_v2",
    'secret = os.environ["MY_SECRET_2"]',
    "token = tokens[position + 12]",
    'password: str = Field(min_length=12, description="at least 12 characters")',
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:',
    'BEGIN = "-----BEGIN PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"',
    '<div class="sk-loading-spinner-animation-wrapper-2">',
    "sk-cube-grid-with-nine-cubes-3",
    "https://example.org/a:b/c@d",
    "postgres://${USER}:${PASSWORD}@host/db",
    "git clone https://github.com/owner/name.git",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "The password must have at least 12characters and a digit.",
    "AKIAPOLEGIA is a word; so is xoxb.",
    "from mufakat.core import secrets",
)
