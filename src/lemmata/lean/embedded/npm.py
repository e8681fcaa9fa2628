"""Ask the user's npm client where a package is and how to reach it.

The registry, its credentials, the proxy and the certificates are whatever npm is configured to
use; nothing about them is known here.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmata.errors import InstallError
from lemmata.lean.embedded.download import Network

# npm's own retries would make an offline user wait for more than a minute.
_IMPATIENT = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=30000")
_OFFLINE_ADVICE = "or bring the file from another machine and give it with --from FILE"


@dataclass(frozen=True)
class Distribution:
    """Where the registry keeps a package version and which hash it states for it."""

    url: str
    integrity: str | None


@dataclass(frozen=True)
class NpmClient:
    """An npm client, given as the argv prefix that starts it."""

    command: tuple[str, ...]

    def distribution(self, package: str, version: str) -> Distribution:
        """The address and stated hash of ``package@version``.

        Raises ``InstallError`` when the registry cannot be reached or does not have it.
        """
        answer = self._json("view", f"{package}@{version}", "dist", *_IMPATIENT)
        if isinstance(answer, dict) and isinstance(answer.get("tarball"), str):
            integrity = answer.get("integrity")
            return Distribution(
                answer["tarball"], integrity if isinstance(integrity, str) else None
            )
        raise InstallError(
            f"the npm registry does not have {package} {version}; check npm's registry setting, "
            f"{_OFFLINE_ADVICE}."
        )

    def network(self) -> Network:
        """Proxy and certificate settings, for a client of our own."""
        settings = self._json("config", "list")
        if not isinstance(settings, dict):
            return Network()
        proxies = []
        for scheme, key in (("http", "proxy"), ("https", "https-proxy")):
            # npm uses the setting for plain http when there is none for https.
            value = settings.get(key) or settings.get("proxy")
            if isinstance(value, str) and value:
                proxies.append((scheme, value))
        cafile = settings.get("cafile")
        return Network(
            proxies=tuple(proxies),
            direct=tuple(part for text in _texts(settings, "noproxy") for part in text.split(",")),
            authorities=(Path(cafile),) if isinstance(cafile, str) and cafile else (),
            authority_text="\n".join(_texts(settings, "ca")),
            verify_tls=settings.get("strict-ssl") is not False,
        )

    def pack(self, package: str, version: str, folder: Path) -> Path:
        """Let npm itself fetch the package into ``folder`` (it holds the credentials).

        Raises ``InstallError`` when it cannot.
        """
        answer = self._json(
            "pack", f"{package}@{version}", "--pack-destination", str(folder), timeout=1800.0
        )
        found = sorted(folder.glob("*.tgz"))
        if len(found) != 1:
            raise InstallError(
                f"npm could not fetch {package} {version} ({_error_summary(answer)}); check its "
                f"registry and login, {_OFFLINE_ADVICE}."
            )
        return found[0]

    def _json(self, *args: str, timeout: float = 120.0) -> Any:
        try:
            answer = subprocess.run(
                [*self.command, *args, "--json"],
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout,
                check=False,
                stdin=subprocess.DEVNULL,
                # The user's settings count, not those of a project someone else wrote.
                cwd="/",
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError(
                f"npm {args[0]} did not answer within {timeout:.0f} seconds; check the network, "
                f"{_OFFLINE_ADVICE}."
            ) from error
        except OSError as error:
            raise InstallError(
                f"the npm client {self.command[0]} cannot be started ({error.strerror})."
            ) from error
        try:
            value = json.loads(answer.stdout)
        except ValueError:
            value = None
        if answer.returncode != 0 and args[0] == "view":
            raise InstallError(
                f"npm cannot look up {args[1]} ({_error_summary(value)}); check the network and "
                f"npm's registry and proxy settings, {_OFFLINE_ADVICE}."
            )
        return value


def _texts(settings: dict[str, Any], key: str) -> tuple[str, ...]:
    value = settings.get(key)
    values = value if isinstance(value, list) else [value]
    return tuple(text for text in values if isinstance(text, str) and text)


def _error_summary(value: Any) -> str:
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, dict):
        for key in ("summary", "code"):
            text = error.get(key)
            if isinstance(text, str) and text:
                return " ".join(text.split()).rstrip(".")
    return "it gives no reason"
