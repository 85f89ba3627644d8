"""Modules: parsed, verified, printed, and listed."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import FileError, Messages, ParseError, RunError, VerifyError
from ._library import lib, take_text
from ._shapes import ArrayShape, Shape, parse_shape
from ._values import Literal, to_numpy

if TYPE_CHECKING:
    from ._program import Event, Program

_STYLES = ("full", "abridged", "short", "bare", "exact", "commented")
_KINDS = ("zeros", "ones", "iota", "uniform", "normal", "edge")


class Parameter(NamedTuple):
    """A parameter of the entry computation."""

    name: str
    shape: str
    """In HLO syntax: `f32[2,3]{1,0}`."""

    @property
    def dtype(self) -> str | None:
        """The element type in HLO syntax; None for a tuple."""
        parsed = parse_shape(self.shape)
        return parsed.dtype if isinstance(parsed, ArrayShape) else None

    @property
    def dims(self) -> tuple[int, ...] | None:
        """The dimensions; None for a tuple."""
        parsed = parse_shape(self.shape)
        return parsed.dims if isinstance(parsed, ArrayShape) else None


class Instruction(NamedTuple):
    """An instruction of a module."""

    name: str
    op: str
    shape: str
    computation: str
    operands: tuple[str, ...]
    line: int
    """In its file, from 1; 0: unknown."""
    column: int
    op_name: str
    """From the metadata, such as `jit(f)/log`; "" if absent."""
    where: str
    """The place in the user's program, `file.py:12`; "" if it is unknown."""


class Module:
    """A module of HLO.

    `source` is HLO text if it contains a newline or `{`, and a path otherwise; a `pathlib.Path` is
    always a path. Bytes are the contents of a file. Other objects are lowered JAX functions:
    `hlo.Module(jax.jit(f).lower(x))`. `Module.parse` takes only texts, `Module.open` only paths.
    The text is parsed at once (ParseError), and verified by `verify`, or before it is first run.

    `strict` accepts only what XLA's parser accepts. `replicas` and `partitions` override those of
    the module. A module does not change, and may be used from several threads.
    """

    def __init__(
        self,
        source: Any,
        *,
        pick: str | int | None = None,
        strict: bool = False,
        replicas: int | None = None,
        partitions: int | None = None,
    ):
        if isinstance(source, os.PathLike):
            core = _open(os.fspath(source), pick, strict)
        elif isinstance(source, bytes):
            core = _open_bytes(source, pick, strict)
        elif not isinstance(source, str):
            core = _parse(_text_of_lowered(source), "<jax>", pick, strict)
        elif "\n" in source or "{" in source:
            core = _parse(source, "<text>", pick, strict)
        else:
            core = _open(source, pick, strict)
        self._set_up(core, replicas, partitions)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        name: str = "<text>",
        pick: str | int | None = None,
        strict: bool = False,
        replicas: int | None = None,
        partitions: int | None = None,
    ) -> Module:
        """Parses a text. `name` is that of the file in messages."""
        self = cls.__new__(cls)
        self._set_up(_parse(text, name, pick, strict), replicas, partitions)
        return self

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        pick: str | int | None = None,
        strict: bool = False,
        replicas: int | None = None,
        partitions: int | None = None,
    ) -> Module:
        """Reads a file: HLO text, a protocol buffer of XLA, a bundle, or a directory of XLA dumps.

        `pick` selects one of several modules by its number, from 1, or its name; in a directory of
        dumps also by its phase, `"23:after"`.
        """
        self = cls.__new__(cls)
        self._set_up(_open(os.fspath(path), pick, strict), replicas, partitions)
        return self

    def _set_up(self, core: Core, replicas: int | None, partitions: int | None) -> None:
        self._core = core
        self._program: Program | None = None
        if replicas is not None or partitions is not None:
            lib.hlo_set_participants(
                core.handle, replicas or self.replicas, partitions or self.partitions
            )

    # ---- text ----

    def fmt(self, style: str = "full") -> str:
        """The canonical text of XLA.

        `full`: all values. `abridged`: larger constants are elided as `{...}`. `short`: without
        metadata, percent signs and signatures. `bare`: full without metadata. `exact`: full with -0
        as -0.0. `commented`: exact with the comments of the text.
        """
        return self._core.fmt(style)

    def __str__(self) -> str:
        return self.fmt()

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p.name}: {p.shape}" for p in self.parameters)
        return f"<hlo.Module {self.name}({parameters})>"

    # ---- properties ----

    @property
    def name(self) -> str:
        """The name in its first line: `HloModule NAME`."""
        return self.fmt("abridged").split(maxsplit=2)[1].rstrip(",")

    @property
    def replicas(self) -> int:
        """Number of replicas. A run has `replicas * partitions` participants."""
        return int(lib.hlo_replica_count(self._core.handle))

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return int(lib.hlo_num_partitions(self._core.handle))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the entry computation."""
        return self._core.parameters

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions, in the order of printing: callees before callers."""
        return self._core.listing().instructions

    # ---- checking and running ----

    def verify(self) -> None:
        """Raises VerifyError, with all errors, if the module is not valid."""
        self._core.verify()

    def compile(
        self,
        *,
        threads: int = 0,
        plain: bool = False,
        seed: int = 1,
        elided: str = "refuse",
        max_steps: int = 0,
        max_trip: int = 0,
        max_memory: int = 0,
        timeout: float = 0,
        stop_on: str | Sequence[str] = (),
        custom_calls: Sequence[str] = (),
        custom_call_libraries: Sequence[str | os.PathLike[str]] = (),
    ) -> Program:
        """Verifies the module and plans it. VerifyError or RunError if that fails.

        - `threads`: number of worker threads; 0: one per processor. Results do not depend on it.
        - `plain`: reference kernels only, bitwise identical on all machines.
        - `seed`: of rng instructions, and of `elided="random"`.
        - `elided`: value of constants written `{...}`: `refuse`, `zero`, `iota` or `random`.
        - `max_steps`, `max_trip`, `max_memory` (bytes), `timeout` (seconds): limits of a run, which
          raises LimitError; 0: none.
        - `stop_on`: `nan`, `inf`, `overflow` or `denormal`, or several. A run raises NumericError
          at the first instruction that produces one from operands without any.
        - `custom_calls`: rules for targets, `"NAME=identity"`, `"NAME=zeros"` or `"NAME=COMMAND"`.
        - `custom_call_libraries`: shared libraries that define targets.
        """
        from ._program import Program, plan_options

        return Program(
            self._core,
            plan_options(
                threads=threads,
                plain=plain,
                seed=seed,
                elided=elided,
                max_steps=max_steps,
                max_trip=max_trip,
                max_memory=max_memory,
                timeout=timeout,
            ),
            stop_on=(stop_on,) if isinstance(stop_on, str) else tuple(stop_on),
            rules=tuple(custom_calls),
            libraries=tuple(custom_call_libraries),
        )

    def run(self, /, *args: Any, **named: Any) -> Any:
        """Runs the module with the default options of `compile`: see `Program.run`."""
        if self._program is None:
            self._program = self.compile()
        return self._program.run(*args, **named)

    __call__ = run

    def trace(self, /, *args: Any, **named: Any) -> Iterator[Event]:
        """Runs the module with the default options of `compile`, and yields an event for each
        executed instruction: see `Program.trace`."""
        return self.compile().trace(*args, **named)

    def random_arguments(self, seed: int = 1) -> tuple[Any, ...]:
        """Random arguments, those of `hlo run --random=SEED`."""
        return self._generated(lambda i, m: lib.hlo_random_param(self._core.handle, i, seed, m))

    def fake_arguments(self, kind: str = "uniform", seed: int = 1) -> tuple[Any, ...]:
        """Arguments that are valid for their uses, those of `hlo run --fake=KIND --seed=SEED`:
        `zeros`, `ones`, `iota`, `uniform`, `normal` or `edge`."""
        if kind not in _KINDS:
            raise ValueError(f"kind must be one of {', '.join(_KINDS)}, got {kind!r}")
        self.verify()
        number = _KINDS.index(kind)
        return self._generated(
            lambda i, m: lib.hlo_fake_param(self._core.handle, i, number, seed, m)
        )

    def stored_arguments(self, participant: int = 0) -> tuple[Any, ...]:
        """The arguments that the file has besides the module, as snapshots of XLA and bundles do.
        RunError if it has none. The arrays are read-only."""
        if not lib.hlo_stored_arguments(self._core.handle):
            raise RunError(f"module {self.name} has no stored arguments")
        handle = self._core.handle
        return self._generated(
            lambda i, m: lib.hlo_stored_argument(handle, handle, i, participant, m), writable=False
        )

    def stored_result(self, participant: int = 0) -> Any:
        """The result that the file has besides the module. RunError if it has none. The arrays are
        read-only."""
        if not self._core.has_result:
            raise RunError(f"module {self.name} has no stored result")
        m = Messages()
        literal = Literal(lib.hlo_stored_result(self._core.handle, participant, m.handle) or 0)
        m.check(literal.handle, RunError)
        return to_numpy(literal, writable=False)

    def _generated(self, make: Any, writable: bool = True) -> tuple[Any, ...]:
        values = []
        for i in range(lib.hlo_param_count(self._core.handle)):
            m = Messages()
            literal = Literal(make(i, m.handle) or 0)
            m.check(literal.handle, RunError)
            values.append(to_numpy(literal, writable=writable))
        return tuple(values)


class Core:
    """Owns the handle of a module. Modules and programs refer to it."""

    def __init__(self, handle: int, has_result: bool):
        self.handle = handle
        self.has_result = has_result
        self._lock = threading.Lock()
        self._verified = False
        self._listing: Listing | None = None

    def __del__(self, free: Any = lib.hlo_module_free) -> None:
        self._listing = None
        free(self.handle)

    def fmt(self, style: str) -> str:
        if style not in _STYLES:
            raise ValueError(f"style must be one of {', '.join(_STYLES)}, got {style!r}")
        return take_text(lib.hlo_print(self.handle, _STYLES.index(style)))

    def verify(self) -> None:
        with self._lock:
            if self._verified:
                return
            m = Messages()
            m.check(lib.hlo_verify(self.handle, m.handle), VerifyError)
            self._verified = True

    def listing(self) -> Listing:
        with self._lock:
            if self._listing is None:
                self._listing = Listing(self.handle)
            return self._listing

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(
                lib.hlo_param_name(self.handle, i).decode(),
                take_text(lib.hlo_param_shape(self.handle, i)),
            )
            for i in range(lib.hlo_param_count(self.handle))
        )

    @functools.cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the parameters."""
        return tuple(parse_shape(p.shape) for p in self.parameters)


class Listing:
    """The instructions of a module, by number. The module must outlive it."""

    def __init__(self, module: int):
        self.handle = lib.hlo_list(module)
        if not self.handle:
            raise MemoryError("out of memory")
        computations = [
            lib.hlo_list_computation(self.handle, k).name.decode()
            for k in range(lib.hlo_list_computations(self.handle))
        ]
        listed = [lib.hlo_list_inst(self.handle, i) for i in range(lib.hlo_list_count(self.handle))]
        names = [inst.name.decode() for inst in listed]
        self.instructions = tuple(
            Instruction(
                names[i],
                inst.op.decode(),
                inst.shape.decode(),
                computations[inst.computation],
                tuple(names[inst.operands[k]] for k in range(inst.operand_count)),
                inst.line,
                inst.column,
                inst.op_name.decode(),
                inst.where.decode(),
            )
            for i, inst in enumerate(listed)
        )

    def __del__(self, free: Any = lib.hlo_listing_free) -> None:
        if getattr(self, "handle", None):
            free(self.handle)


def _parse(text: str, name: str, pick: str | int | None, strict: bool) -> Core:
    data = text.encode()
    file = lib.hlo_file_of_text(name.encode(), data, len(data), strict)
    return _core_of_file(file, name, pick, Messages())


def _open(path: str, pick: str | int | None, strict: bool) -> Core:
    picked = None if pick is None else str(pick).encode()
    m = Messages()
    file = lib.hlo_file_open_module(os.fsencode(path), picked, strict, m.handle)
    return _core_of_file(file, path, None, m)


def _open_bytes(data: bytes, pick: str | int | None, strict: bool) -> Core:
    import tempfile  # slow

    with tempfile.NamedTemporaryFile(prefix="bytes-", suffix=".hlo") as file:
        file.write(data)
        file.flush()
        return _open(file.name, pick, strict)


def _core_of_file(file: int | None, name: str, pick: str | int | None, m: Messages) -> Core:
    if not file:
        raise m.exception(FileError)
    try:
        handle = lib.hlo_parse(file, _only_part(file, name, pick), m.handle)
        core = Core(handle, lib.hlo_file_has_results(file)) if handle else None
        m.check(core, ParseError)
        assert core
        return core
    finally:
        lib.hlo_file_free(file)


def _only_part(file: int, name: str, pick: str | int | None) -> int:
    """The part of a file to parse; FileError if there are several and none is picked."""
    count = lib.hlo_file_count(file)
    if count == 1 and pick is None:
        return 0
    titles = [lib.hlo_file_title(file, k).decode() for k in range(count)]
    if pick is not None:
        for k, title in enumerate(titles):
            if str(pick) in (str(k + 1), title):
                return k
        raise FileError(f"{name}: no module '{pick}'; modules: {', '.join(titles)}")
    if count == 0:
        raise FileError(f"{name}: no module")
    raise FileError(f"{name}: {count} modules; pick one: {', '.join(titles)}")


def _text_of_lowered(source: Any) -> str:
    """The HLO text of a lowered JAX function, or of an XlaComputation, with all constants."""
    if hasattr(source, "compiler_ir"):
        source = source.compiler_ir(dialect="hlo")
    if not hasattr(source, "as_serialized_hlo_module_proto"):
        raise TypeError(
            f"expected HLO text, a path or a lowered JAX function, got {type(source).__name__}"
        )
    # as_hlo_text() would omit the metadata, with the lines of the source.
    core = _open_bytes(source.as_serialized_hlo_module_proto(), None, False)
    return core.fmt("exact")
