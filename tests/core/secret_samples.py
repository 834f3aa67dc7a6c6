"""Made-up secrets of every kind, and text that only looks as if it held some."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Mapping, Sequence

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def word(chance: random.Random, size: int, letters: str = ALNUM) -> str:
    """A random word with a digit, a small and a capital letter in its first four."""
    return "".join(("x", "7", "Q", *chance.choices(letters, k=size - 3)))


def letters(chance: random.Random, size: int, of: str = ALNUM) -> str:
    """Random letters, nothing more."""
    return "".join(chance.choices(of, k=size))


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


def _gitlab(chance: random.Random) -> str:
    return f"gl{chance.choice(('pat', 'dt', 'rt', 'ptt', 'soat'))}-{word(chance, 20, URL_SAFE)}"


def _slack(c: random.Random) -> str:
    app = f"xapp-1-A{letters(c, 10, UPPER)}-{c.randrange(10**11, 10**12)}-{letters(c, 64, HEX)}"
    return c.choice((f"xox{c.choice('abeoprs')}-{c.randrange(10**11)}-{word(c, 24)}", app))


def _model(c: random.Random) -> str:
    return c.choice((f"sk-or-v1-{letters(c, 64, HEX)}", f"gsk_{word(c, 52)}", f"xai-{word(c, 80)}"))


def _google_oauth(c: random.Random) -> str:
    return c.choice((f"GOCSPX-{word(c, 28, URL_SAFE)}", f"ya29.a0{word(c, 150, URL_SAFE)}"))


def _azure(c: random.Random) -> str:
    return c.choice((f"{word(c, 86, ALNUM + '+/')}==", f"{word(c, 3)}8Q~{word(c, 34, URL_SAFE)}"))


def _discord(c: random.Random) -> str:
    user = base64.b64encode(str(c.randrange(10**17, 10**18)).encode()).decode().rstrip("=")
    return f"{user}.{word(c, 6, URL_SAFE)}.{word(c, 38, URL_SAFE)}"


def _basic(chance: random.Random) -> str:
    return base64.b64encode(f"user:{word(chance, chance.randrange(8, 30))}".encode()).decode()


def _jwt(chance: random.Random) -> str:
    size = chance.choice((10, 300, 5_000))
    return f"{part(chance, 12)}.{part(chance, size)}.{word(chance, 43, URL_SAFE)}"


def _key(chance: random.Random) -> str:
    block = key_block(chance, end=chance.random() < 0.8)
    return json.dumps(block)[1:-1] if chance.random() < 0.3 else block


MAKE: Mapping[str, Callable[[random.Random], str]] = {
    "private-key": _key,
    "gcp-service-account": lambda c: json.dumps(key_block(c) + "\n")[1:-1],
    "anthropic-key": lambda chance: f"sk-ant-api03-{word(chance, 90, URL_SAFE)}A",
    "openai-key": _openai,
    "model-key": _model,
    "github-token": _github,
    "gitlab-token": _gitlab,
    "google-key": lambda chance: f"AIza{word(chance, 35)}",
    "google-oauth": _google_oauth,
    "aws-key-id": lambda c: c.choice(("AKIA", "ASIA")) + letters(c, 16, UPPER),
    "aws-secret-key": lambda c: word(c, 40, ALNUM + "+/"),
    "azure-key": _azure,
    "slack-token": _slack,
    "slack-webhook": lambda c: (
        f"services/T{letters(c, 8, UPPER)}/B{letters(c, 8, UPPER)}/{word(c, 24)}"
    ),
    "stripe-key": lambda c: f"{c.choice(('sk', 'rk'))}_live_{word(c, c.choice((24, 99)))}",
    "twilio-key": lambda c: f"SK{letters(c, 32, HEX)}",
    "sendgrid-key": lambda c: f"SG.{word(c, 22, URL_SAFE)}.{word(c, 43, URL_SAFE)}",
    "mailgun-key": lambda c: f"key-{letters(c, 32, HEX)}",
    "npm-token": lambda c: f"npm_{word(c, 36)}",
    "pypi-token": lambda c: f"pypi-AgEIcHlwaS5vcmc{word(c, 130, URL_SAFE)}",
    "docker-token": lambda c: f"dckr_pat_{word(c, 27, URL_SAFE)}",
    "huggingface-token": lambda c: f"hf_{letters(c, 34, string.ascii_letters)}",
    "databricks-token": lambda c: f"dapi{letters(c, 32, HEX)}",
    "digitalocean-token": lambda c: f"do{c.choice('opr')}_v1_{letters(c, 64, HEX)}",
    "heroku-key": lambda c: f"HRKU-{word(c, 60, URL_SAFE)}",
    "telegram-token": lambda c: f"{c.randrange(10**8, 10**10)}:AA{word(c, 33, URL_SAFE)}",
    "discord-token": _discord,
    "discord-webhook": lambda c: f"{c.randrange(10**17, 10**18)}/{word(c, 68, URL_SAFE)}",
    "linear-key": lambda c: f"lin_api_{word(c, 40)}",
    "notion-token": lambda c: c.choice((f"ntn_{word(c, 46)}", f"secret_{word(c, 43)}")),
    "shopify-token": lambda c: f"shp{c.choice(('at', 'ca', 'pa', 'ss'))}_{letters(c, 32, HEX)}",
    "vault-token": lambda c: f"hvs.{word(c, 90, URL_SAFE)}",
    "grafana-token": lambda c: f"glsa_{word(c, 32)}_{letters(c, 8, HEX)}",
    "atlassian-token": lambda c: f"ATATT3{word(c, 180, URL_SAFE)}",
    "age-key": lambda c: f"AGE-SECRET-KEY-1{letters(c, 58, UPPER)}",
    "mufakat-token": lambda c: f"mf_{word(c, 43, URL_SAFE)}",
    "jwt": _jwt,
    "url-password": lambda chance: f"app:{word(chance, chance.randrange(8, 40))}",
    "basic-auth": _basic,
    "bearer-token": lambda c: word(c, c.randrange(16, 60)),
    "assigned-secret": lambda c: word(c, c.randrange(12, 60), ALNUM + "+/._-!#^&"),
}

PLACES: Mapping[str, Sequence[str]] = {
    "code": ('client = Client(token="%s")', "const KEY = '%s';", 'let k = String::from("%s");'),
    "prose": ("I used %s, and it worked.", "The key is `%s`", "see (%s)"),
    "json": ('{"k": "%s", "n": 1}', '{"text": "{\\"k\\": \\"%s\\"}"}', '{"log": "first\\n%s\\n"}'),
    "yaml": ("deploy:\n  key: %s\n  on: push", "- name: KEY\n  value: '%s'"),
    "env": ("export KEY=%s\n", "KEY=%s", 'KEY="%s"\nOTHER=1'),
    "url": ("https://example.org/x?key=%s&n=1", "GET /v1/x?t=%s HTTP/1.1"),
    "header": ("X-Api-Key: %s\r\nAccept: */*", "-H 'Authorization: Bearer %s'"),
    "tool result": ("$ cat .env\n\x1b[32m%s\x1b[0m\n", "  1\t%s\n", "+%s\n-old"),
}
"""Where a secret that is known by its look may stand."""

OWN: Mapping[str, Sequence[str]] = {
    "private-key": ("file:\n%s", "cat id_rsa\n%s\n$", "key: |\n%s"),
    "gcp-service-account": (
        '{"type": "service_account", "private_key": "%s", "client_email": "a@b"}',
        '{\n  "private_key_id": "12",\n  "private_key":"%s"\n}',
    ),
    "aws-secret-key": (
        "aws_secret_access_key = %s",
        "export AWS_SECRET_ACCESS_KEY=%s",
        '"SecretAccessKey": "%s",',
        'secretAccessKey: "%s"',
    ),
    "slack-webhook": ("https://hooks.slack.com/%s", 'url: "https://hooks.slack.com/%s"'),
    "discord-webhook": ("https://discord.com/api/webhooks/%s", "discordapp.com/api/webhooks/%s ok"),
    "url-password": ("postgres://%s@db.internal:5432/app", "redis://%s@cache", "https://%s@h/x"),
    "basic-auth": (
        "Authorization: Basic %s",
        "'authorization': 'Basic %s'",
        '{"Authorization": "Basic %s"}',
        '{"auths": {"hub": {"auth": "%s"}}}',
    ),
    "bearer-token": (
        "Authorization: Bearer %s",
        '{"Authorization": "Bearer %s"}',
        "curl -H 'authorization: bearer %s' https://example.org",
    ),
}
"""Where a secret stands that is known by what is around it."""

ASSIGNMENTS = (
    'password = "%s"',
    "DB_PASSWORD='%s'",
    '"client_secret": "%s",',
    '{\\"client_secret\\": \\"%s\\"}',
    "api_key: '%s'",
    'SECRET_KEY := "%s"',
    "'auth_token' => '%s'",
    'if password == "%s":',
    "https://example.org/?api_key='%s'",
    "X-Api-Key: '%s'",
)


def samples(kind: str, chance: random.Random) -> tuple[str, str]:
    """A secret of `kind`, and a text that holds it."""
    secret = MAKE[kind](chance)
    if kind == "assigned-secret":
        around: Sequence[str] = ASSIGNMENTS
    elif kind == "azure-key" and "8Q~" not in secret:
        around = ("AccountName=a;AccountKey=%s;EndpointSuffix=core", '"k": "x;AccountKey=%s"')
    else:
        around = OWN.get(kind) or chance.choice(list(PLACES.values()))
    return secret, chance.choice(around) % secret


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
