"""Run HLO, the text language of XLA, on NumPy arrays.

    >>> import hlo
    >>> m = hlo.Module('''
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   ROOT y = f32[3] add(x, x)
    ... }''')
    >>> m.run([1, 2, 3])
    array([2., 4., 6.], dtype=float32)

`Module` parses, verifies, prints and runs a module; `Module.compile` sets options of runs, limits
among them, and returns a `Program`; `Module.trace` iterates over the executed instructions with
their values. `diff` compares two modules, `allclose` and `assert_allclose` compare values. Failures
are subclasses of `Error`, warnings are `HloWarning`.

Element types that NumPy lacks (bf16, f8 ..., s4 ...) are those of ml_dtypes. Without it, their
arrays have elements of raw bytes (`V2`, `V1`), as NumPy reads them from .npy files.
"""

from ._diff import Divergence, diff
from ._errors import (
    Error,
    FileError,
    HloWarning,
    LimitError,
    Message,
    NumericError,
    ParseError,
    RunError,
    RunInterrupted,
    VerifyError,
)
from ._library import about
from ._module import Instruction, Module, Parameter
from ._program import Event, Program
from ._values import allclose, assert_allclose, format_value, parse_value

__version__ = about().split()[1]

__all__ = [
    "Divergence",
    "Error",
    "Event",
    "FileError",
    "HloWarning",
    "Instruction",
    "LimitError",
    "Message",
    "Module",
    "NumericError",
    "Parameter",
    "ParseError",
    "Program",
    "RunError",
    "RunInterrupted",
    "VerifyError",
    "about",
    "allclose",
    "assert_allclose",
    "diff",
    "format_value",
    "parse_value",
]
