"""Shapes in HLO syntax, and the NumPy types of HLO's element types."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Union

import numpy as np

_NUMPY = {
    "pred": "bool",
    **{f"s{n}": f"int{n}" for n in (8, 16, 32, 64)},
    **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)},
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    "c64": "complex64",
    "c128": "complex128",
}
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f4e2m1fn": "float4_e2m1fn",
    "f6e2m3fn": "float6_e2m3fn",
    "f6e3m2fn": "float6_e3m2fn",
    "f8e3m4": "float8_e3m4",
    "f8e4m3": "float8_e4m3",
    "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
    **{f"s{n}": f"int{n}" for n in (1, 2, 4)},
    **{f"u{n}": f"uint{n}" for n in (1, 2, 4)},
}
SIGNED_BITS = {"s1": 1, "s2": 2, "s4": 4}
"""Signed types below a byte, which libhlo keeps sign-extended and ml_dtypes does not."""


def _ml_dtype(name: str) -> Any:
    try:
        import ml_dtypes
    except ImportError:
        return None
    found = getattr(ml_dtypes, _ML_DTYPES[name], None)
    return None if found is None else np.dtype(found)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy type of an element type of HLO.

    Types that NumPy lacks are those of ml_dtypes; where it is not installed, or its version does
    not have the type, raw bytes: `V2` for bf16, `V1` for the others.
    """
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML_DTYPES:
        return _ml_dtype(name) or np.dtype("V2" if name == "bf16" else "V1")
    raise TypeError(f"no NumPy type for elements of type '{name}'")


def hlo_dtype(dtype: np.dtype[Any]) -> str:
    """The name of a NumPy type in HLO; TypeError if HLO has no such type."""
    for table in (_NUMPY, _ML_DTYPES):
        for name, numpy_name in table.items():
            if numpy_name == dtype.name and numpy_dtype(name) == dtype:
                return name
    raise TypeError(f"HLO has no element type for NumPy's '{dtype}'")


class ArrayShape(NamedTuple):
    """The shape of an array."""

    dtype: str
    dims: tuple[int, ...]
    """Of a bounded dimension, its bound."""
    bounded: bool
    """Whether a dimension is bounded: arrays with fewer elements are valid."""


Shape = Union[ArrayShape, tuple["Shape", ...], None]
"""A tuple of shapes, or None for a token and other values without elements."""

_ARRAY = re.compile(r"(\w+)\[([^\]]*)\](\{[^}]*\})?")
_SPACE = re.compile(r"(\s|,|/\*.*?\*/)*")


def parse_shape(text: str) -> Shape:
    """Parses a shape as libhlo prints it, such as `(f32[2,3]{1,0}, s32[<=4])`."""
    shape, _ = _parse(text, 0)
    return shape


def _parse(text: str, at: int) -> tuple[Shape, int]:
    if text.startswith("(", at):
        elements: list[Shape] = []
        at = _skip(text, at + 1)
        while not text.startswith(")", at):
            element, at = _parse(text, at)
            elements.append(element)
            at = _skip(text, at)
        return tuple(elements), at + 1
    m = _ARRAY.match(text, at)
    if not m or m[1] in ("token", "opaque"):
        m = re.compile(r"\w+(\[\])?(\{\})?").match(text, at)
        if not m:
            raise ValueError(f"malformed shape '{text}'")
        return None, m.end()
    dims = tuple(int(d.strip().lstrip("<=")) for d in m[2].split(",") if d.strip())
    return ArrayShape(m[1], dims, "<=" in m[2]), m.end()


def _skip(text: str, at: int) -> int:
    m = _SPACE.match(text, at)
    return m.end() if m else at
