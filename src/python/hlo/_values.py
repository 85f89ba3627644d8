"""Literals of libhlo and NumPy arrays, which share their memory."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import Error, Messages, ParseError
from ._library import hlo_text, hlo_tolerance, lib, options, take_text
from ._shapes import SIGNED_BITS, ArrayShape, Shape, hlo_dtype, numpy_dtype, parse_shape

_borrowed: dict[int, Any] = {}
"""The arrays whose memory literals refer to, until libhlo releases them."""
_numbers = itertools.count(1)


def _pop(number: int, borrowed: dict[int, Any] = _borrowed) -> None:
    borrowed.pop(number, None)


_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_pop)


class Literal:
    """Owns a literal. Arrays that are views of its memory refer to it."""

    def __init__(self, handle: int):
        self.handle = handle

    # The defaults outlive the module, whose variables are cleared when Python exits.
    def __del__(self, free: Any = lib.hlo_literal_free, release: Any = _release) -> None:
        if self.handle:
            free(self.handle)

    def release(self) -> int:
        """Passes ownership to the caller."""
        handle, self.handle = self.handle, 0
        return handle


class _Memory:
    """The memory of one array of a literal, for NumPy."""

    def __init__(
        self, owner: Literal | None, data: int, dims: tuple[int, ...], typestr: str, writable: bool
    ):
        self._owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": dims,
            "typestr": typestr,
            "data": (data, not writable),
        }


# ---- values of libhlo to NumPy ----


def to_numpy(
    literal: Literal, argument_memory: Sequence[tuple[int, int]] = (), *, writable: bool = True
) -> Any:
    """The value of a literal: an array, or a tuple of values; `()` for a token.

    Arrays are views that keep the literal alive. Those in `argument_memory` (ranges of addresses)
    belong to the caller of a run, and are copied. `writable` must be false if the literal may be
    that of a file, which may be mapped.
    """
    return _convert(literal.handle, literal, argument_memory, writable)


def copy_to_numpy(handle: int) -> Any:
    """The value of a literal that libhlo owns, as copies of its arrays."""
    return _convert(handle, None, (), True)


def _convert(
    handle: int, owner: Literal | None, foreign: Sequence[tuple[int, int]], writable: bool
) -> Any:
    text = take_text(lib.hlo_literal_shape(handle))
    if text.startswith("("):
        elements = range(lib.hlo_literal_count(handle))
        handles = (lib.hlo_literal_element(handle, k) for k in elements)
        return tuple(_convert(element, owner, foreign, writable) for element in handles)
    if parse_shape(text) is None:
        return ()
    leaf = lib.hlo_literal_leaf(handle, 0)
    name = leaf.dtype.decode()
    dims = tuple(leaf.dims[k] for k in range(leaf.rank))
    dtype = numpy_dtype(name)
    if leaf.elements == 0 or not leaf.data:
        return np.empty(dims, dtype)  # has no elements that could be written
    memory = _Memory(owner, leaf.data, dims, f"|V{leaf.element_size}", writable)
    array = np.asarray(memory).view(dtype)
    if name in SIGNED_BITS:
        array = _mask(array, SIGNED_BITS[name])
    elif owner is None or any(start <= leaf.data < end for start, end in foreign):
        array = array.copy()
    array.flags.writeable = writable
    return array


def _mask(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Sign-extended elements in the form of ml_dtypes: a copy."""
    return (array.view(np.uint8) & np.uint8((1 << bits) - 1)).view(array.dtype)


# ---- NumPy to values of libhlo ----


def to_array(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """An array of anything that NumPy converts, or that has `__dlpack__`; without a copy if that is
    possible."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        return np.asarray(value, dtype)
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def borrow(array: np.ndarray[Any, Any], name: str) -> Literal:
    """A literal of type `name` in the memory of an array, which must be contiguous."""
    number = next(_numbers)
    _borrowed[number] = array
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    m = Messages()
    handle = lib.hlo_literal_map(
        name.encode(), array.ndim, dims, array.ctypes.data, _release, number, m.handle
    )
    if not handle:
        _borrowed.pop(number)
        raise m.exception(Error)
    return Literal(handle)


def _prepare(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The array in the form of libhlo: itself, or a copy if it is not contiguous and aligned, or of
    a type below a byte."""
    if name in SIGNED_BITS:
        shift = np.uint8(8 - SIGNED_BITS[name])
        return ((array.view(np.uint8) << shift).view(np.int8) >> shift.view(np.int8)).view(
            array.dtype
        )
    if name[0] == "u" and name[1:] in ("1", "2", "4"):
        return _mask(array, int(name[1:]))
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def to_literal(value: Any, shape: Shape, what: str) -> Literal:
    """The literal of an argument, for the shape of its parameter. `what` names it in errors."""
    if isinstance(shape, ArrayShape):
        return _array_literal(value, shape, what)
    if shape is None:
        return tuple_literal([])
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{what}: expected a tuple of {len(shape)}, got {type(value).__name__}")
    if len(value) != len(shape):
        raise ValueError(f"{what}: expected a tuple of {len(shape)}, got {len(value)} elements")
    elements = [to_literal(v, s, f"{what}[{k}]") for k, (v, s) in enumerate(zip(value, shape))]
    return tuple_literal(elements)


def _array_literal(value: Any, shape: ArrayShape, what: str) -> Literal:
    wanted = numpy_dtype(shape.dtype)
    array = to_array(value, wanted)
    if array.dtype != wanted and not _raw_bytes(array.dtype, wanted, shape.dtype):
        raise TypeError(
            f"{what}: expected {shape.dtype}, got {array.dtype}; convert it with "
            f"x.astype({wanted.name!r})"
        )
    fits = array.ndim == len(shape.dims) and all(
        n <= d if shape.bounded else n == d for n, d in zip(array.shape, shape.dims)
    )
    if not fits:
        raise ValueError(f"{what}: expected shape {shape.dims}, got {array.shape}")
    return borrow(_prepare(array, shape.dtype), shape.dtype)


def _raw_bytes(given: np.dtype[Any], wanted: np.dtype[Any], name: str) -> bool:
    """Whether elements are raw bytes of a type that NumPy lacks, as read from .npy files."""
    return given.kind == "V" and wanted.kind not in "biufc" and given.itemsize == wanted.itemsize


def tuple_literal(elements: list[Literal]) -> Literal:
    handles = (ctypes.c_void_p * len(elements))(*(e.handle for e in elements))
    handle = lib.hlo_literal_tuple(handles, len(elements))
    if not handle:
        raise MemoryError("out of memory")
    for e in elements:
        e.release()
    return Literal(handle)


def any_literal(value: Any) -> Literal:
    """The literal of a value by its own type; tuples and lists of arrays are tuples."""
    if isinstance(value, tuple) or (
        isinstance(value, list) and any(hasattr(v, "__array__") for v in value)
    ):
        return tuple_literal([any_literal(v) for v in value])
    array = to_array(value)
    name = hlo_dtype(array.dtype)
    return borrow(_prepare(array, name), name)


def leaf_addresses(literal: int) -> list[int]:
    """The addresses of the arrays of a literal."""
    leaves = (lib.hlo_literal_leaf(literal, k) for k in range(lib.hlo_literal_leaves(literal)))
    return [leaf.data or 0 for leaf in leaves]


def leaf_ranges(literal: int) -> list[tuple[int, int]]:
    """The memory of the arrays of a literal, as pairs of addresses."""
    leaves = (lib.hlo_literal_leaf(literal, k) for k in range(lib.hlo_literal_leaves(literal)))
    return [(a.data, a.data + a.elements * a.element_size) for a in leaves if a.data]


# ---- comparison ----


def tolerance_of(
    rel: float = 0,
    abs: float = 0,
    ulp: int = 0,
    zeros: bool = False,
    bits: bool = False,
    usual: bool = False,
) -> hlo_tolerance:
    found: hlo_tolerance = options(
        hlo_tolerance, rel=rel, abs=abs, ulp=ulp, zeros=zeros, bits=bits, usual=usual
    )
    return found


def _why_different(actual: Any, expected: Any, tolerance: hlo_tolerance) -> str | None:
    a, e = any_literal(actual), any_literal(expected)
    why = hlo_text()
    if lib.hlo_literal_compare(a.handle, e.handle, ctypes.byref(tolerance), ctypes.byref(why)):
        return None
    return take_text(why) if why.data else "values differ"


def allclose(
    actual: Any,
    expected: Any,
    *,
    rel: float = 0,
    abs: float = 0,
    ulp: int = 0,
    zeros: bool = False,
    bits: bool = False,
    usual: bool = False,
) -> bool:
    """Whether shapes, types and values agree.

    Elements agree if they are equal, both NaN, or floats within any of the bounds:
    `|actual - expected| <= abs + rel * |expected|`, or `ulp` representable values. Integers must be
    equal. `usual` adds the usual error of computations in the type of an array (f32: 1e-4, bf16:
    3e-2). `zeros`: 0 and -0 differ. `bits`: every bit must be equal.
    """
    return _why_different(actual, expected, tolerance_of(rel, abs, ulp, zeros, bits, usual)) is None


def assert_allclose(
    actual: Any,
    expected: Any,
    *,
    rel: float = 0,
    abs: float = 0,
    ulp: int = 0,
    zeros: bool = False,
    bits: bool = False,
    usual: bool = False,
) -> None:
    """Raises AssertionError with the first difference and the worst errors, unless `allclose`."""
    why = _why_different(actual, expected, tolerance_of(rel, abs, ulp, zeros, bits, usual))
    if why is not None:
        raise AssertionError(why)


def parse_value(text: str) -> Any:
    """Parses a value with its shape, such as `f32[2] {1, 2}`."""
    data = text.encode()
    m = Messages()
    literal = Literal(lib.hlo_literal_parse(data, len(data), m.handle) or 0)
    m.check(literal.handle, ParseError)
    return to_numpy(literal)


def format_value(value: Any) -> str:
    """All elements of a value, in HLO syntax with its shape."""
    literal = any_literal(value)
    return take_text(lib.hlo_literal_print(literal.handle, True))
