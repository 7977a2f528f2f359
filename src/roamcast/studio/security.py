"""Access control of the studio: one origin, one token, bounded requests, strict response headers.

The token is in the fragment of the address that `roamcast studio` prints, so a browser never sends it in a
request line or a referrer. The page sends it as a header. There is no cookie, hence no request that a browser
authenticates by itself: a page of another origin has no access even if a check below failed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from roamcast.errors import UserError

MOST_JSON = 4_500_000
"Maximum size of a request body [B]: a scenario file of the maximum size, with room for JSON."

MOST_UPLOAD = 64_000_000
"Maximum size of an imported trace [B]."

UPLOAD = "/api/import"
_LONGEST_TARGET = 4000
_METHODS = ("GET", "HEAD", "POST")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"Content security policy of the studio's own pages."

FRAMED = (
    "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'; connect-src 'none'; "
    "form-action 'none'; base-uri 'none'; object-src 'none'"
)
"Policy added to reports and replays: their scripts have an origin of their own and no access to the studio."

B = TypeVar("B", bound=BaseModel)


class Refused(UserError):
    """A request that is not served, with its HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class RequestBody(BaseModel):
    """Base class of request bodies: strict types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AccessKeys:
    """The token of one server, and the keys of folders derived from it."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(32)

    def admits(self, authorization: str) -> bool:
        """Return whether a header `Authorization` carries the token."""
        return hmac.compare_digest(authorization.encode(), f"Bearer {self.token}".encode())

    def sign(self, name: str) -> str:
        """Return the key in the address of the files of one result, which sandboxed pages can use."""
        return hmac.new(self.token.encode(), name.encode(), hashlib.sha256).hexdigest()[:40]


class Guard:
    """ASGI middleware that refuses requests of other hosts and origins, without token, or too large."""

    def __init__(self, app: ASGIApp, keys: AccessKeys, hosts: frozenset[str]) -> None:
        self._app = app
        self._keys = keys
        self._hosts = hosts
        "Accepted values of the header `Host`."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        sending = _with_headers(send)
        try:
            self._check(scope, Headers(scope=scope))
        except Refused as refusal:
            await _tell(refusal)(scope, receive, sending)
            return
        most = MOST_UPLOAD if scope["path"] == UPLOAD else MOST_JSON
        try:
            await self._app(scope, _bounded(receive, most), sending)
        except Refused as refusal:
            await _tell(refusal)(scope, receive, sending)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if host not in self._hosts:
            raise Refused(421, "this server answers to its own address only")
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string", b"")) > _LONGEST_TARGET:
            raise Refused(414, "the address is too long")
        if scope["method"] not in _METHODS:
            raise Refused(405, f"expected {', '.join(_METHODS)}")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise Refused(403, "requests of other origins are refused")
        if scope["path"].startswith("/api/"):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                raise Refused(403, "requests of other sites are refused")
            if not self._keys.admits(headers.get("authorization", "")):
                raise Refused(401, "no valid token: open the address that roamcast studio printed")
        elif scope["method"] == "POST":
            raise Refused(405, "expected GET")
        length = headers.get("content-length", "0")
        most = MOST_UPLOAD if scope["path"] == UPLOAD else MOST_JSON
        if not (length.isascii() and length.isdigit()) or len(length) > 12 or int(length) > most:
            raise Refused(413, f"the request has more than {most:,} bytes")


def _bounded(receive: Receive, most: int) -> Receive:
    """Return `receive` with a limit on the bytes of the body, whatever its header says."""
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise Refused(413, f"the request has more than {most:,} bytes")
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Cross-Origin-Resource-Policy"] = "same-origin"
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
            headers["Referrer-Policy"] = "no-referrer"
            headers.setdefault("Cache-Control", "no-store")
            headers.setdefault("Content-Security-Policy", POLICY)
        await send(message)

    return sending


def _tell(refusal: Refused) -> JSONResponse:
    return JSONResponse({"error": str(refusal)}, status_code=refusal.status)


async def read_body(request: Request, kind: type[B]) -> B:
    """Return the JSON body of a request as a `kind`; raise Refused with what is wrong."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "expected a body of type application/json")
    try:
        data = json.loads(await request.body())
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))[:80] or "the body"
        raise Refused(422, f"{place}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON") from None
