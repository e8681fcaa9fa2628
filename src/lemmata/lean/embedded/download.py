"""Fetch one pinned file over HTTP: resumable, retried, checked before anyone uses it.

What has arrived lies in ``NAME.part`` beside the target; with it, ``NAME.part.json`` remembers
the validator (``ETag`` or ``Last-Modified``) of the response it came from, so that a file that
changed on the server is never glued to an older beginning (RFC 9110, sections 13 and 14: range
requests, ``If-Range``).
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import errno
import hashlib
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn
from urllib.parse import urlsplit

import httpx

from lemmata.errors import InstallError
from lemmata.lean.embedded.report import Meter, Reporter

_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class DownloadDenied(InstallError):
    """The server wants credentials (401, 403 or 407); another client may have them."""


@dataclass(frozen=True)
class Expected:
    """What the file must be: its exact length in bytes and its hash.

    ``integrity`` has the form of Subresource Integrity, ``sha512-<base64>`` (sha256 and sha384
    are understood too).
    """

    size: int
    integrity: str


@dataclass(frozen=True)
class Network:
    """How to reach the network; the default is what the environment says.

    ``proxies`` maps the schemes ``http`` and ``https`` to a proxy address; ``direct`` lists host
    names (suffixes) that are reached without one. ``authorities`` are extra files of trusted
    certificates in PEM form, ``authority_text`` the same inline. ``verify_tls`` False is for
    users who configured their package client so; the content is pinned by hash in any case.
    """

    proxies: tuple[tuple[str, str], ...] = ()
    direct: tuple[str, ...] = ()
    authorities: tuple[Path, ...] = ()
    authority_text: str = ""
    verify_tls: bool = True

    def proxy_for(self, url: str) -> str | None:
        """The proxy configured for ``url``, or None (then the environment decides)."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        for entry in self.direct:
            suffix = entry.strip().lstrip(".").lower()
            if suffix and (host == suffix or host.endswith("." + suffix)):
                return None
        return dict(self.proxies).get(parts.scheme)


@dataclass(frozen=True)
class Retry:
    """``attempts`` in a row without a new byte are allowed; waits grow from ``first_wait`` (s)."""

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def wait(self, failures: int, asked: float | None) -> None:
        """Wait after the given number of failures, or as long as the server asked for."""
        backoff = self.first_wait * 2.0 ** (failures - 1)
        self.sleep(min(asked if asked is not None else backoff, self.longest_wait))


class _Interrupted(Exception):
    """An attempt ended early; ``retry_after`` in seconds when the server named one."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class _StartOver(Exception):
    """What has arrived so far cannot be continued."""


def matches(path: Path, integrity: str) -> bool:
    """Whether the file's content has the given hash.

    Raises ``InstallError`` when ``integrity`` is not well formed.
    """
    algorithm, _, encoded = integrity.partition("-")
    if algorithm not in ("sha256", "sha384", "sha512"):
        raise InstallError(f"the integrity value {integrity!r} names no hash that can be checked.")
    try:
        wanted = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InstallError(f"the integrity value {integrity!r} is not base64.") from error
    with path.open("rb") as source:
        return hashlib.file_digest(source, algorithm).digest() == wanted


def fetch(
    url: str,
    target: Path,
    expected: Expected,
    *,
    reporter: Reporter,
    network: Network | None = None,
    retry: Retry | None = None,
) -> None:
    """Bring the file at ``url`` to ``target``; it appears there only when its hash is right.

    An interrupted download leaves its beginning in ``target.part`` and the next call goes on
    from there. A wrong hash, a wrong length and a full disk leave nothing. Raises
    ``DownloadDenied`` when credentials are wanted, ``InstallError`` otherwise. Callers that may
    run at once must hold a lock.
    """
    policy = retry or Retry()
    route = network or Network()
    part = _Part(target.with_name(target.name + ".part"))
    if part.size > expected.size:
        part.discard()
    try:
        with (
            _client(url, route) as client,
            reporter.meter(f"downloading {target.name}", expected.size) as meter,
        ):
            _fetch_all(client, url, part, expected, meter, policy)
    except OSError as error:
        _raise_disk_error(error, part, target)
    if not matches(part.path, expected.integrity):
        part.discard()
        raise InstallError(
            f"the file downloaded from {url} is corrupted (its hash is not the pinned one); "
            "it was deleted, run the command again or check what the registry or proxy delivers."
        )
    part.path.replace(target)
    part.discard()


def _raise_disk_error(error: OSError, part: _Part, target: Path) -> NoReturn:
    part.discard()
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise InstallError(
            f"the disk of {target.parent} became full while downloading; what had arrived was "
            "deleted, free some space and run the command again."
        ) from error
    raise InstallError(f"cannot write {part.path} ({error.strerror or error}).") from error


class _Part:
    """The beginning of a file, and what is known about where it came from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._notes = path.with_name(path.name + ".json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def validator(self) -> str | None:
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        value = notes.get("validator") if isinstance(notes, dict) else None
        return value if isinstance(value, str) else None

    def begin(self, validator: str | None) -> BinaryIO:
        self._notes.write_text(json.dumps({"validator": validator}), encoding="utf-8")
        return self.path.open("wb")

    def go_on(self) -> BinaryIO:
        return self.path.open("ab")

    def discard(self) -> None:
        for path in (self.path, self._notes):
            with contextlib.suppress(OSError):
                path.unlink()


def _fetch_all(
    client: httpx.Client, url: str, part: _Part, expected: Expected, meter: Meter, policy: Retry
) -> None:
    failures = 0
    restarts = 0
    while part.size < expected.size:
        before = part.size
        meter.at(before)
        try:
            _attempt(client, url, part, expected, meter)
        except _StartOver:
            # A server that keeps changing the file would otherwise be asked forever.
            restarts += 1
            if restarts > policy.attempts:
                raise InstallError(f"the file at {url} keeps changing while it is read.") from None
            part.discard()
        except _Interrupted as interruption:
            failures = 1 if part.size > before else failures + 1
            if failures >= policy.attempts:
                raise InstallError(
                    f"downloading {url} failed {failures} times in a row ({interruption}); check "
                    "the network and run the command again, it goes on where it stopped."
                ) from interruption
            policy.wait(failures, interruption.retry_after)
    meter.at(part.size)


def _attempt(client: httpx.Client, url: str, part: _Part, expected: Expected, meter: Meter) -> None:
    have = part.size
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        validator = part.validator()
        if validator is not None:
            headers["If-Range"] = validator
    with _opened(client, url, headers) as response:
        status = response.status_code
        if status == 206:
            _check_continues(response, have, expected)
            _copy(response, part.go_on(), have, expected, meter)
        elif status == 200:
            _check_length(response, url, expected)
            _copy(response, part.begin(_validator(response)), 0, expected, meter)
        elif status == 416:
            raise _StartOver
        elif status in (401, 403, 407):
            raise DownloadDenied(
                f"{url} is not readable without credentials (HTTP {status}); log in to the "
                "registry or give the file with --from."
            )
        elif status in _RETRIED_STATUS:
            raise _Interrupted(f"HTTP {status}", _retry_after(response))
        else:
            raise InstallError(
                f"{url} answers HTTP {status}; check the registry configured for npm, or give the "
                "file with --from."
            )


@contextlib.contextmanager
def _opened(client: httpx.Client, url: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
    try:
        with client.stream("GET", url, headers=headers) as response:
            yield response
    except httpx.InvalidURL as error:
        raise InstallError(f"the registry names an address that is not valid: {url!r}.") from error
    except httpx.HTTPError as error:
        raise _Interrupted(str(error) or type(error).__name__) from error


def _check_continues(response: httpx.Response, have: int, expected: Expected) -> None:
    """A partial response must start where the part ends and be of a file of the right length."""
    unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
    span, _, total = rest.partition("/")
    start, _, _ = span.partition("-")
    if unit != "bytes" or start != str(have) or total not in (str(expected.size), "*"):
        raise _StartOver


def _check_length(response: httpx.Response, url: str, expected: Expected) -> None:
    length = response.headers.get("Content-Length")
    if length is not None and length.isdigit() and int(length) != expected.size:
        raise InstallError(
            f"the file at {url} has {length} bytes and the pinned one has {expected.size}; the "
            "registry or proxy delivers something else."
        )


def _copy(
    response: httpx.Response, out: BinaryIO, have: int, expected: Expected, meter: Meter
) -> None:
    with out:
        # Without a chunk size: httpx would collect a chunk and drop it when the connection breaks.
        for chunk in response.iter_raw():
            have += len(chunk)
            if have > expected.size:
                # Cutting here gives a file of the right length that the hash then judges.
                chunk = chunk[: len(chunk) - (have - expected.size)]
                out.write(chunk)
                return
            out.write(chunk)
            meter.at(have)
    if have < expected.size:
        raise _Interrupted(f"the connection ended after {have} of {expected.size} bytes")


def _validator(response: httpx.Response) -> str | None:
    etag: str | None = response.headers.get("ETag")
    if etag is not None and not etag.startswith("W/"):
        return etag
    modified: str | None = response.headers.get("Last-Modified")
    return modified


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else None


def _client(url: str, network: Network) -> httpx.Client:
    return httpx.Client(
        follow_redirects=True,
        proxy=network.proxy_for(url),
        timeout=httpx.Timeout(30.0, connect=20.0),
        verify=_tls_context(network),
        headers={"User-Agent": "lemmata"},
    )


def _tls_context(network: Network) -> ssl.SSLContext:
    context: ssl.SSLContext = httpx.create_ssl_context()
    if not network.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    context.load_default_certs()
    extra = os.environ.get("NODE_EXTRA_CA_CERTS")
    files = (*network.authorities, *((Path(extra),) if extra else ()))
    for path in files:
        try:
            context.load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError) as error:
            raise InstallError(
                f"the certificate file {path} configured for npm cannot be used ({error})."
            ) from error
    if network.authority_text:
        try:
            context.load_verify_locations(cadata=network.authority_text)
        except ssl.SSLError as error:
            raise InstallError(
                f"the certificates in npm's setting 'ca' cannot be used ({error})."
            ) from error
    return context
