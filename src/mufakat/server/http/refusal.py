"""Errors that only HTTP knows: requests that never reach a service."""

from __future__ import annotations

from mufakat.core import base


class BadRequest(base.InvalidInput):
    """The request is not valid HTTP for this server; correct it."""

    code = "bad_request"


class InvalidJson(base.InvalidInput):
    """The body is not strict JSON; send one plain JSON object in UTF-8."""

    code = "invalid_json"


class InvalidText(base.InvalidInput):
    """The body holds characters that cannot be stored; remove BOM, NUL and lone surrogates."""

    code = "invalid_text"


class BadCursor(base.InvalidInput):
    """The cursor is not one of this server's; use the `id` of an event or `next` of a page."""

    code = "bad_cursor"


class UnknownEpoch(base.Conflict):
    """The cursor belongs to another life of the database; read the state anew, then go on."""

    code = "unknown_epoch"


class FutureCursor(base.Conflict):
    """The cursor is ahead of the log, as after a rollback; read the state anew, then go on."""

    code = "future_cursor"


class Compacted(base.MufakatError):
    """Events behind the cursor are gone; read the state anew and go on from `oldest`."""

    code = "compacted"


class Misdirected(base.NotAllowed):
    """The Host header names another server; use the URL that `mufakat up` prints."""

    code = "misdirected"


class ForeignOrigin(base.NotAllowed):
    """The request comes from a page of another site; use Mufakat's own page or a client."""

    code = "foreign_origin"


class MethodNotAllowed(base.InvalidInput):
    """This method is not for this resource; see the API document."""

    code = "method_not_allowed"


class UnsupportedMedia(base.InvalidInput):
    """Bodies are plain JSON; send `Content-Type: application/json` and no Content-Encoding."""

    code = "unsupported_media_type"


class UrlTooLong(base.InvalidInput):
    """The URL is too long; send less in it."""

    code = "uri_too_long"


class HeadersTooLarge(base.InvalidInput):
    """The header fields are too large; send smaller ones."""

    code = "headers_too_large"


class SlowRequest(base.MufakatError):
    """The request did not arrive in time; send it again."""

    code = "request_timeout"
    retryable = True


class TooManyStreams(base.MufakatError):
    """This token has too many open event streams; close some of them."""

    code = "too_many_streams"
    retryable = True
