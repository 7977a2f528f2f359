"""A router in a Python file, given as `FILE.py:CLASS`.

The file is read once, and its text is sent to Spark's workers, which need no access to the file. It may
import installed packages, but no files beside it, because the id of a run covers only the text of this file.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from roamcast.errors import UserError
from roamcast.routing import catalogue

if TYPE_CHECKING:
    from roamcast.routing.router import Router

_EXAMPLE = "write it like gossip.py:Gossip"


@dataclass(frozen=True)
class RouterFile:
    """The text of a Python file, and the class in it that is the router."""

    file: str
    cls: str
    source: str

    @property
    def name(self) -> str:
        """The protocol's name: the name of the class in lower case with hyphens (`TwoTier`: `two-tier`)."""
        return name_of(self.cls)

    @property
    def digest(self) -> str:
        """A digest of the text and of the class's name [8 hex digits]."""
        return hashlib.blake2b(f"{self.cls}\n{self.source}".encode(), digest_size=4).hexdigest()

    def load(self) -> type[Router]:
        """Return the class; the file is executed on the first call in this process."""
        from roamcast.routing.router import Router

        module = self._module()
        found = getattr(module, self.cls, None)
        if found is None:
            raise UserError(f"{self.file}: has no class {self.cls!r}{_hint(module)}")
        if not (isinstance(found, type) and issubclass(found, Router)):
            raise UserError(f"{self.file}: {self.cls} is not a subclass of roamcast.Router{_hint(module)}")
        return found

    def _module(self) -> ModuleType:
        name = f"roamcast_router_{hashlib.blake2b(self.source.encode(), digest_size=8).hexdigest()}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = self.file
        sys.modules[name] = module  # type hints and pickle look a class's module up here
        # Descriptions of parameters and tracebacks quote the text, also where the file is not.
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        try:
            exec(compile(self.source, self.file, "exec"), vars(module))
        except (Exception, SystemExit) as error:  # whatever the file does, the user gets one line
            del sys.modules[name]
            line = error.lineno if isinstance(error, SyntaxError) else _line(error, self.file)
            where = f"{self.file}:{line}" if line else self.file
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise UserError(f"{where}: cannot be loaded: {type(error).__name__}: {reason}") from error
        return module


def name_of(cls: str) -> str:
    """Return the protocol's name for the name of a class."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls)
    return words.replace("_", "-").lower()


def add_file(given: str) -> str:
    """Add the router `FILE.py:CLASS` to the protocols of this process; return the protocol's name."""
    file, colon, cls = given.rpartition(":")
    if not colon or not file.endswith(".py") or not cls.isidentifier():
        raise UserError(f"--router {given!r}: a file and a class are expected; {_EXAMPLE}")
    try:
        source = Path(file).read_text("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"--router {given!r}: {file} is not a text file in UTF-8") from None
    except OSError as error:
        raise UserError(f"--router {given!r}: cannot read {file}: {error.strerror}") from None
    router = RouterFile(str(Path(file).absolute()), cls, source)
    router.load()
    known = catalogue.file_of(router.name)
    if known is not None and known.file != router.file:
        raise UserError(
            f"--router {given!r}: {known.file} has a protocol {router.name!r}, too; rename a class"
        )
    catalogue.add(router.name, router)
    return router.name


def _hint(module: ModuleType) -> str:
    from roamcast.routing.router import Router

    own = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Router)]
    names = [each.__name__ for each in own if each.__module__ == module.__name__]
    return f"; its routers: {', '.join(names)}" if names else "; it defines no router"


def _line(error: BaseException, file: str) -> int | None:
    """Return the last line of `file` in the traceback of `error`."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
