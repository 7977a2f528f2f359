"""Storage URLs: folders and files on a disk, in an S3 bucket or on HDFS, by Arrow's file systems.

Files that `write` creates appear atomically.
"""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import time
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from roamcast.errors import UserError

_S3_TIMEOUT = 60.0
"Timeout of connections and requests to S3 [s]; Arrow's default of 3 s is too short for a busy endpoint."

SCHEMES = ("file", "s3", "s3a", "hdfs")

_LOCAL_THREADS, _REMOTE_THREADS = 2, 8
"""Threads of `StorageUrl.each`. Requests to a remote store have a high latency; a local disk has none, and
delta-rs and the C library keep memory for every thread: 25 MB after 20 commits by eight, 12 MB by two."""

Answer = TypeVar("Answer")


class StorageError(UserError):
    """A URL that cannot be used."""


class StorageUnreachable(StorageError, OSError):
    """A remote store that cannot be reached or denies access."""


@dataclass(frozen=True)
class FileInfo:
    """Size, type and age of a file or folder."""

    size: int
    folder: bool
    age: float
    "Time since the last modification [s]."


class StorageUrl:
    """A folder or a file under a URL."""

    def __init__(self, url: str | Path | StorageUrl) -> None:
        given = str(url)
        scheme, mark, rest = given.partition("://")
        if isinstance(url, Path) or not mark:
            scheme, rest = "file", str(Path(given).absolute())
        if scheme not in SCHEMES:
            raise StorageError(
                f"{given}: unsupported scheme {scheme}://; give a folder, s3://bucket/path or hdfs://host/path"
            )
        self.scheme = "s3" if scheme == "s3a" else scheme
        self.path = rest.rstrip("/") if self.scheme != "file" else str(Path(rest))

    def __truediv__(self, name: str) -> StorageUrl:
        return StorageUrl(f"{self.scheme}://{self.path}/{name}")

    def __str__(self) -> str:
        return self.path if self.scheme == "file" else f"{self.scheme}://{self.path}"

    def __repr__(self) -> str:
        return f"StorageUrl({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorageUrl) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def local(self) -> Path | None:
        """The path of a local file or folder; None for a remote one."""
        return Path(self.path) if self.scheme == "file" else None

    @property
    def file_system(self) -> tuple[fs.FileSystem, str]:
        """Arrow's file system and the path within it."""
        system = _connect(self.scheme, self.path.partition("/")[0] if self.scheme != "file" else "")
        return system, _inside(self.path) if self.scheme == "hdfs" else self.path

    def each(self, work: Callable[..., Answer], *items: Iterable[Any]) -> list[Answer]:
        """Return the results of `work`, which reads or writes in this folder, as `map` does, by threads."""
        with ThreadPoolExecutor(_REMOTE_THREADS if self.local is None else _LOCAL_THREADS) as pool:
            return list(pool.map(work, *items))

    def make_folder(self) -> None:
        """Create the folder and its parents; S3 has no folders, so nothing is created there."""
        if self.local is not None:
            self.local.mkdir(parents=True, exist_ok=True)
        elif self.scheme == "hdfs":
            system, path = self.file_system
            system.create_dir(path, recursive=True)

    def check_bucket(self) -> None:
        """Raise FileNotFoundError if the bucket of an S3 URL does not exist."""
        if self.scheme == "s3":
            system, path = self.file_system
            bucket = path.partition("/")[0]
            with self._blaming():
                found = system.get_file_info(bucket)
            if found.type == fs.FileType.NotFound:
                raise FileNotFoundError(errno.ENOENT, "no such bucket", bucket)

    def exists(self) -> bool:
        """Return whether the file or folder exists."""
        if self.local is not None:
            return self.local.exists()
        system, path = self.file_system
        with self._blaming():
            return bool(system.get_file_info(path).type != fs.FileType.NotFound)

    def list(self) -> dict[str, FileInfo]:
        """Return the entries of the folder, by name; empty if the folder does not exist."""
        if self.local is not None:
            try:
                with os.scandir(self.local) as entries:
                    return dict(_look(entries))
            except (FileNotFoundError, NotADirectoryError):
                return {}
        system, path = self.file_system
        with self._blaming():
            infos = system.get_file_info(fs.FileSelector(path, allow_not_found=True))
        now = time()
        return {
            info.base_name: FileInfo(
                info.size or 0,
                info.type == fs.FileType.Directory,
                now - (info.mtime_ns / 1e9 if info.mtime_ns else now),
            )
            for info in infos
        }

    def read(self) -> bytes:
        """Return the content of the file, or raise FileNotFoundError."""
        if self.local is not None:
            return self.local.read_bytes()
        with self.open() as file:
            content: bytes = file.read()
            return content

    def open(self) -> pa.NativeFile:
        """Open the file for random access."""
        if self.local is not None:
            return pa.memory_map(str(self.local)) if self.local.stat().st_size else pa.BufferReader(b"")
        system, path = self.file_system
        with self._blaming():
            return system.open_input_file(path)

    def write(self, content: bytes | pa.Buffer, synced: bool = True) -> None:
        """Write the file atomically; without `synced`, a power failure may lose the content."""
        with self.writing(synced) as sink:
            sink.write(content)

    @contextmanager
    def writing(self, synced: bool = True) -> Iterator[Any]:
        """Yield a stream; its content becomes the file if the block ends without an error."""
        if self.local is None:
            memory = pa.BufferOutputStream()
            yield memory
            system, path = self.file_system
            if self.scheme == "hdfs":
                with suppress(OSError):
                    system.delete_file(path)
            with system.open_output_stream(path) as sink:
                sink.write(memory.getvalue())
            return
        draft = self.local.with_name(f".{self.name}.{uuid.uuid4().hex[:12]}")
        try:
            with draft.open("wb") as file:
                yield file
                if synced:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(self.local)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """Convert an error of a remote store to `StorageUnreachable` with a one-line message."""
        try:
            yield
        except OSError as error:
            _, mark, message = str(error).partition("AWS Error ")
            if not mark:
                raise
            raise StorageUnreachable(
                f"{self}: the store reports {' '.join(message.split())[:200]}; check AWS_ENDPOINT_URL, "
                "AWS_REGION, the credentials and the network"
            ) from None

    def remove(self) -> None:
        """Remove the file, or the folder and its content; do nothing if it does not exist."""
        if self.local is not None:
            if self.local.is_dir():
                shutil.rmtree(self.local, ignore_errors=True)
            else:
                self.local.unlink(missing_ok=True)
            return
        system, path = self.file_system
        with suppress(FileNotFoundError):
            if system.get_file_info(path).type == fs.FileType.Directory:
                system.delete_dir(path)
            else:
                system.delete_file(path)


def _look(entries: Any) -> Iterator[tuple[str, FileInfo]]:
    for entry in entries:
        with suppress(FileNotFoundError):  # removed during the scan
            status = entry.stat()
            yield entry.name, FileInfo(status.st_size, entry.is_dir(), time() - status.st_mtime)


def _inside(path: str) -> str:
    return "/" + path.partition("/")[2]


@cache
def _connect(scheme: str, host: str) -> fs.FileSystem:
    if scheme == "file":
        return fs.LocalFileSystem(use_mmap=True)
    try:
        if scheme == "s3":
            return _connect_s3(host)
        name, _, port = host.partition(":")
        return fs.HadoopFileSystem(name or "default", int(port or 0))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise StorageError(f"{scheme}://{host}: cannot be reached: {reason}") from None


def _connect_s3(bucket: str) -> fs.FileSystem:
    """Return Arrow's file system for a bucket, configured by the environment."""
    endpoint = _s3_endpoint()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    how: dict[str, Any] = {"connect_timeout": _S3_TIMEOUT, "request_timeout": _S3_TIMEOUT}
    if endpoint is None:
        return fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket), **how)
    url = urlsplit(endpoint)
    how |= {"endpoint_override": url.netloc, "scheme": url.scheme}
    return fs.S3FileSystem(region=region or "us-east-1", **how)


def _s3_endpoint() -> str | None:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")


def delta_options(scheme: str) -> dict[str, str] | None:
    """Return the storage options of delta-rs for a URL scheme; credentials come from the environment."""
    endpoint = _s3_endpoint()
    if scheme != "s3" or endpoint is None:
        return None
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    plain = str(urlsplit(endpoint).scheme == "http").lower()
    return {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region, "AWS_ALLOW_HTTP": plain}
