"""Messages of libhlo as exceptions and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NamedTuple

from ._library import lib, take_text

_PACKAGE = os.path.dirname(__file__)


class Message(NamedTuple):
    """An error or warning of the parser, the verifier or a run."""

    id: str
    """Its identifier in the catalogue, such as `unknown-opcode`; `""` if it has none."""
    error: bool
    """False: a warning."""
    file: str
    line: int
    """From 1; 0: unknown."""
    column: int
    text: str


class Error(Exception):
    """Base of all exceptions that libhlo causes. `str()` is the text that `hlo` prints: all
    messages with source lines, carets and notes. The other attributes describe the first error."""

    messages: tuple[Message, ...]
    """All errors and warnings, in the order in which they were found."""

    def __init__(self, drawn: str, messages: tuple[Message, ...] = ()):
        super().__init__(drawn, messages)
        self.messages = messages

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def first(self) -> Message:
        """The first error; empty if there are no messages."""
        errors = [m for m in self.messages if m.error]
        return errors[0] if errors else Message("", True, "", 0, 0, str(self))

    @property
    def id(self) -> str:
        """Its identifier in the catalogue, such as `unknown-opcode`; `""` if it has none."""
        return self.first.id

    @property
    def file(self) -> str:
        """The path of its file, or the name given to `Module.parse`."""
        return self.first.file

    @property
    def line(self) -> int:
        """Its line, from 1; 0: unknown."""
        return self.first.line

    @property
    def column(self) -> int:
        """Its column, from 1; 0: unknown."""
        return self.first.column

    @property
    def message(self) -> str:
        """The text of the first error, without its location."""
        return self.first.text


class FileError(Error):
    """A file cannot be read, or contains no HLO module."""


class ParseError(Error):
    """The text is rejected by the parser."""


class VerifyError(Error):
    """The module is rejected by the verifier."""


class RunError(Error):
    """A run failed, or the module cannot be planned."""


class LimitError(RunError):
    """A run exceeded `max_steps`, `max_trip`, `max_memory` or `timeout`."""


class NumericError(RunError):
    """A run was stopped by `stop_on`: the instruction produced a NaN, an infinity or the like."""


class RunInterrupted(RunError):
    """A run was ended by `Program.interrupt`."""


class HloWarning(UserWarning):
    """A warning of the parser, the verifier or a run."""


_OF_ID = {"run-interrupted": RunInterrupted, "stopped-on": NumericError}


class Messages:
    """Collects the messages of calls, and owns their handle."""

    def __init__(self) -> None:
        self.handle = lib.hlo_messages_new()
        if not self.handle:
            raise MemoryError("out of memory")

    def __del__(self, free: Any = lib.hlo_messages_free) -> None:
        free(self.handle)

    def list(self) -> tuple[Message, ...]:
        return tuple(self._message(i) for i in range(lib.hlo_messages_count(self.handle)))

    def _message(self, i: int) -> Message:
        m = lib.hlo_messages_get(self.handle, i)
        words = [w.decode("utf-8", "replace") for w in (m.id, m.file, m.text)]
        return Message(words[0], m.error, words[1], m.line, m.column, words[2])

    def check(self, ok: Any, cls: type[Error]) -> None:
        """Raises `cls`, or a subclass that the messages tell, unless `ok`; then issues warnings."""
        if not ok:
            raise self.exception(cls)
        for i in range(lib.hlo_messages_count(self.handle)):
            text = take_text(lib.hlo_messages_draw_one(self.handle, i, None)).rstrip("\n")
            warnings.warn(text, HloWarning, stacklevel=_level_of_caller())

    def exception(self, cls: type[Error]) -> Error:
        found = self.list()
        drawn = take_text(lib.hlo_messages_draw(self.handle, False)).rstrip("\n")
        if issubclass(cls, RunError) and lib.hlo_messages_limit(self.handle):
            cls = LimitError
        for message in found:
            cls = _OF_ID.get(message.id, cls) if message.error else cls
        return cls(drawn or "out of memory", found)


def _level_of_caller() -> int:
    """The `stacklevel` of the innermost frame outside of this package, for `Messages.check`."""
    level = 0
    frame = sys._getframe(1)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level + 1
