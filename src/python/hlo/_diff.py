"""Comparison of two modules on the same arguments."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from ._errors import Messages, RunError
from ._library import (
    hlo_comparison,
    hlo_difference,
    hlo_divergence,
    hlo_run_options,
    hlo_tolerance,
    lib,
    options,
    take_text,
)
from ._module import Core, Instruction, Module
from ._program import Arguments, Plan, Targets, bind, call_with_signals, plan_options
from ._values import copy_to_numpy, tolerance_of


class Divergence(NamedTuple):
    """The result of `diff`; false if the results agree."""

    results_agree: bool
    a: Instruction | None
    """The first instruction that computes another value, in the first module; None: unknown."""
    b: Instruction | None
    """Its partner in the second module."""
    value_a: Any
    value_b: Any
    compared: int
    """Number of executed instructions with a partner."""
    unequal: int
    """Of those, with values that are not bitwise equal."""
    text: str
    """A table of the worst differences; "" if the results agree."""

    def __bool__(self) -> bool:
        return not self.results_agree

    def __str__(self) -> str:
        if self.results_agree:
            return f"results agree; {self.unequal} of {self.compared} instructions are not equal"
        if self.a is None or self.b is None:
            return f"results differ\n{self.text}"
        place = f"'{self.a.name}' (line {self.a.line}) and '{self.b.name}' (line {self.b.line})"
        return f"first difference: {place}\n{self.text}"


def diff(
    a: Module,
    b: Module,
    /,
    *args: Any,
    rel: float = 0,
    abs: float = 0,
    ulp: int = 0,
    usual: bool = False,
    plain: bool = False,
    threads: int = 0,
    seed: int = 1,
    elided: str = "refuse",
) -> Divergence:
    """Runs two modules on the same arguments and finds the first instruction that differs.

    Instructions are paired by name, metadata and operands. Tolerances are those of `allclose`;
    values of `a` are the expected ones. Runs as in `Module.compile`.
    """
    o = plan_options(plain=plain, threads=threads, seed=seed, elided=elided, traced=True)
    literals = bind(a._core, args, {})
    arguments = Arguments(literals * (a.replicas * a.partitions), len(literals))
    comparison = _Comparison(
        (a._core, b._core), o, arguments, tolerance_of(rel, abs, ulp, usual=usual)
    )
    call_with_signals(comparison, comparison.interrupt)
    comparison.messages.check(comparison.ok, RunError)
    return comparison.divergence()


class _Comparison:
    """A comparison of two modules. It owns everything that libhlo uses meanwhile."""

    def __init__(
        self, cores: tuple[Core, Core], o: hlo_run_options, arguments: Arguments, t: hlo_tolerance
    ):
        self.messages = Messages()
        self.ok = False
        self._out = hlo_divergence()
        self._pairing: int | None = None
        self._plans = [Plan(core, o, Targets((), ())) for core in cores]
        self._listings = [core.listing() for core in cores]
        self._keeps = (arguments, t)
        self._pairing = lib.hlo_pair(*(listing.handle for listing in self._listings))
        self._struct = options(
            hlo_comparison,
            a=self._plans[0].handle,
            b=self._plans[1].handle,
            pairing=self._pairing,
            args=arguments.handles,
            count=arguments.count,
            tolerance=ctypes.pointer(t),
        )

    def __del__(
        self, free: Any = lib.hlo_pairing_free, free_contents: Any = lib.hlo_divergence_free
    ) -> None:
        free_contents(ctypes.byref(self._out))
        free(self._pairing)

    def __call__(self) -> None:
        self.ok = lib.hlo_diverge(
            ctypes.byref(self._struct), ctypes.byref(self._out), self.messages.handle
        )

    def interrupt(self) -> None:
        for plan in self._plans:
            plan.interrupt()

    def divergence(self) -> Divergence:
        return _divergence(self._out, *(listing.instructions for listing in self._listings))


def _divergence(
    d: hlo_divergence, a: tuple[Instruction, ...], b: tuple[Instruction, ...]
) -> Divergence:
    value_a, value_b = (copy_to_numpy(v) if v else None for v in (d.value_a, d.value_b))
    if d.found:
        text = _table(d.difference, d.value_b, d.value_a)
    else:
        text = "" if d.results_agree else _table(d.results, d.result_b, d.result_a)
    return Divergence(
        d.results_agree,
        a[d.a] if d.found else None,
        b[d.b] if d.found else None,
        value_a,
        value_b,
        d.compared,
        d.unequal,
        text,
    )


def _table(difference: hlo_difference, actual: int, expected: int) -> str:
    names = (ctypes.c_void_p * 2)()
    words = [ctypes.create_string_buffer(w) for w in (b"b", b"a")]
    for k, word in enumerate(words):
        names[k] = ctypes.addressof(word)
    found = lib.hlo_difference_print(ctypes.byref(difference), actual, expected, names)
    return take_text(found).rstrip("\n")
