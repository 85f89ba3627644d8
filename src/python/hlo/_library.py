"""The shared library libhlo: its functions and structs, declared by the headers.

hlo.h and hlo_advanced.h are installed with the package; a function has the types of its prototype,
and `hlo_NAME`, imported from this module, is the class of a struct.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import re
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_void_p
from typing import Any

import numpy  # noqa: F401  (its own OpenBLAS must read the environment before `_load` sets it)

_HERE = pathlib.Path(__file__).resolve().parent

# ---- declarations in C ----

_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "double": ctypes.c_double,
    "int": c_int,
    "int64_t": ctypes.c_int64,
    "long": ctypes.c_long,
    "long long": ctypes.c_longlong,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "unsigned": ctypes.c_uint,
}


def _read_headers() -> tuple[str, dict[str, str]]:
    """The prototypes, and the members of structs by name."""
    directory = _HERE if (_HERE / "hlo.h").exists() else _HERE.parents[1]  # installed, or in src/
    text = "".join((directory / name).read_text("utf-8") for name in ("hlo.h", "hlo_advanced.h"))
    text = re.sub(r"/\*.*?\*/|^#(?:\\\n|[^\n])*", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = " ".join(text.split())
    constants = dict(re.findall(r"(HLO_\w+) = (\d+)", text))
    text = re.sub(r"\[(HLO_\w+)\]", lambda m: f"[{constants[m[1]]}]", text)
    members: dict[str, str] = {}

    def take(body: re.Match[str]) -> str:
        members[body[1]] = body[2]
        return f"struct {body[1]}"

    text = re.sub(r"enum (\w* ?)\{[^}]*\}", "", text)
    found = 1
    while found:  # a struct may be declared in another one
        text, found = re.subn(r"struct (\w+) \{([^{}]*)\}", take, text)
    return re.sub(r"typedef [^;]*;", "", text), members


_PROTOTYPES, _MEMBERS = _read_headers()


def _split(declarators: str) -> list[str]:
    """Splits at commas, except within parentheses."""
    return re.split(r", (?![^(]*\))", declarators)


def _type(text: str) -> Any:
    """The ctypes type of a type in C. Handles are c_void_p, and so are texts to be freed."""
    words = [w for w in re.findall(r"\w+", text) if w not in ("const", "struct")]
    base = " ".join(words)
    stars = text.count("*")
    if words[0] == "enum":
        return c_int
    if stars == 0:
        return None if base == "void" else _SCALARS.get(base) or struct(base)
    if stars > 1:
        return POINTER(c_void_p)
    if base == "char":
        return c_char_p if "const" in text else c_void_p
    pointed = _SCALARS.get(base) or (struct(base) if base in _MEMBERS else None)
    return POINTER(pointed) if pointed else c_void_p


def _parameters(text: str) -> list[Any]:
    """The types of parameters; an array is a pointer."""
    pointers = re.sub(r"(\w+)\[\d+\]", r"*\1", text)
    return [] if text == "void" else [_variable(p)[1] for p in _split(pointers)]


def _variable(text: str) -> tuple[str, Any]:
    """Name and type of a member or a parameter."""
    callback = re.fullmatch(r"(.*)\(\*(\w+)\)\((.*)\)", text)
    if callback:
        return callback[2], CFUNCTYPE(_type(callback[1]), *_parameters(callback[3]))
    m = re.fullmatch(r"(.*?)(\w+)(?:\[(\d+)\])?", text)
    assert m, text
    return m[2], _type(m[1]) * int(m[3]) if m[3] else _type(m[1])


@functools.cache
def struct(name: str) -> Any:
    """The class of a struct of the headers."""
    fields = []
    for declaration in _MEMBERS[name].split(";")[:-1]:
        first, *others = _split(declaration.strip())
        base = re.match(r"(?:(?:const|enum|long|struct) )*\w+ ", first)
        assert base, declaration
        fields += [_variable(v) for v in (first, *(base[0] + other for other in others))]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def __getattr__(name: str) -> Any:
    if name not in _MEMBERS:
        raise AttributeError(name)
    return struct(name)


def _declare(lib: ctypes.CDLL) -> None:
    for result, name, parameters in re.findall(r"([\w *]+?)(hlo_\w+)\(([^;]*)\);", _PROTOTYPES):
        function = getattr(lib, name)
        function.restype = _type(result)
        function.argtypes = _parameters(parameters)


# ---- the library ----


def _find() -> str:
    """The library of HLO_LIBRARY, that of this package, or that of the system."""
    given = os.environ.get("HLO_LIBRARY")
    own = pathlib.Path(__file__).with_name("libhlo-python.so")
    return given or (str(own) if own.exists() else "libhlo.so.0")


def _load() -> ctypes.CDLL:
    """Loads libhlo, and OpenBLAS by a call that needs it.

    libhlo sets variables of the environment for OpenBLAS, which must not reach other libraries and
    child processes: so they are restored once OpenBLAS is loaded.
    """
    before = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE")}
    try:
        lib = ctypes.CDLL(_find())
        _declare(lib)
    except (OSError, AttributeError) as error:  # none, or one that lacks a function
        raise ImportError(f"cannot load libhlo: {error}") from error
    lib.hlo_text_free(lib.hlo_about())
    for name, value in before.items():
        if value is None:
            os.unsetenv(name)
        else:
            os.putenv(name, value)
    return lib


lib = _load()


def take_text(text: hlo_text) -> str:
    """The contents of a text, which is freed."""
    if not text.data:
        raise MemoryError("out of memory")
    data = ctypes.string_at(text.data, text.size)
    lib.hlo_text_free(ctypes.byref(text))
    return data.decode("utf-8", "replace")


def options(cls: Any, **members: Any) -> Any:
    """An option struct with its size. Callbacks are Python functions; None is a null pointer."""
    struct = cls(size=ctypes.sizeof(cls))
    types = dict(cls._fields_)
    for name, value in members.items():
        kind = types[name]
        if value is not None:
            setattr(struct, name, kind(value) if callable(value) else value)
    return struct


def about() -> str:
    """Versions of libhlo, OpenBLAS and FFTW, and the instruction set in use, as text."""
    return take_text(lib.hlo_about())
