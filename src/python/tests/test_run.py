"""Runs: arguments and results, memory, traces, interrupts."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import hlo
from hlo import _program, _shapes, _values
from hlo._library import hlo_run_options, lib, options

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

DOUBLE = "ENTRY main { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }"
ENDLESS = """
body { s = (s32[], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  a = f32[64,64] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  b = f32[64,64] sine(a)  ROOT t = (s32[], f32[64,64]) tuple(j, b) }
cond { s = (s32[], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2000000000)  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main { z = s32[] constant(0)  a = f32[64,64] parameter(0)
  s = (s32[], f32[64,64]) tuple(z, a)
  ROOT w = (s32[], f32[64,64]) while(s), condition=cond, body=body }
"""
ELEMENTS = {
    **dict.fromkeys("s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64 bf16 f16 f32 f64".split(), "1, 0"),
    **dict.fromkeys("f4e2m1fn f8e3m4 f8e4m3 f8e4m3b11fnuz f8e4m3fn f8e4m3fnuz".split(), "-1, 0.5"),
    **dict.fromkeys("f8e5m2 f8e5m2fnuz".split(), "-1, 0.5"),
    **dict.fromkeys("c64 c128".split(), "(1, -2), (0.5, 3)"),
    "pred": "true, false",
    "s1": "-1, 0",
    "u1": "1, 0",
    "f8e8m0fnu": "1, 0.5",
}


def test_arguments_by_position_and_name():
    module = hlo.Module(
        "ENTRY main { x = f32[] parameter(0)  y = f32[] parameter(1)\n"
        " ROOT d = f32[] subtract(x, y) }"
    )
    assert module.run(5, 3) == module.run(5, y=3) == module(y=3, x=5) == 2
    for args, named in (((1,), {}), ((1, 2, 3), {}), ((1, 2), {"y": 2}), ((1,), {"z": 2})):
        with pytest.raises(TypeError):
            module.run(*args, **named)


def test_types_and_shapes_must_fit():
    module = hlo.Module(DOUBLE)
    with pytest.raises(TypeError, match="astype"):
        module.run(np.zeros(3))
    with pytest.raises(ValueError, match="expected shape"):
        module.run(np.zeros(4, np.float32))


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_elements_of_each_type_pass_unchanged(dtype):
    value = hlo.parse_value(f"{dtype}[2] {{{ELEMENTS[dtype]}}}")
    module = hlo.Module(f"ENTRY main {{ ROOT x = {dtype}[2] parameter(0) }}")
    result = module.run(value)
    assert result.dtype == value.dtype and result.tobytes() == value.tobytes()
    if result.dtype.type is not np.void:
        assert hlo.format_value(result).startswith(f"{dtype}[2]")


def test_tuples():
    module = hlo.Module(
        "ENTRY main { p = (f32[2], (s32[])) parameter(0)\n"
        " f = f32[2] get-tuple-element(p), index=0\n"
        " ROOT t = ((f32[2], (s32[])), f32[2]) tuple(p, f) }"
    )
    (first, (number,)), again = module.run((np.float32([1, 2]), (np.int32(3),)))
    assert list(first) == list(again) == [1, 2] and number == 3


def test_types_without_ml_dtypes_are_raw_bytes(monkeypatch):
    monkeypatch.setattr(_shapes, "_ml_dtype", lambda name: None)
    module = hlo.Module("ENTRY main { x = bf16[2] parameter(0)  ROOT y = bf16[2] negate(x) }")
    result = module.run(np.array([0x3F80, 0x4000], np.uint16).view("V2"))
    assert result.dtype == "V2" and result.view(np.uint16).tolist() == [0xBF80, 0xC000]


if ml_dtypes:

    def test_types_of_ml_dtypes():
        module = hlo.Module(
            "ENTRY main { x = bf16[2] parameter(0)  y = s4[2] parameter(1)\n"
            " a = bf16[2] add(x, x)  b = s4[2] negate(y)  ROOT t = (bf16[2], s4[2]) tuple(a, b) }"
        )
        x, y = np.array([1, 2], ml_dtypes.bfloat16), np.array([-7, 3], ml_dtypes.int4)
        a, b = module.run(x, y)
        assert (a.dtype, b.dtype) == (ml_dtypes.bfloat16, ml_dtypes.int4)
        assert a.tolist() == [2, 4] and b.astype(int).tolist() == [7, -3]


def test_arguments_and_results_are_not_copied():
    core = hlo.Module(DOUBLE.replace("3]", "65536]"))._core
    array, seen = np.arange(1 << 16, dtype=np.float32), []
    arguments = _program.Arguments([_values.to_literal(array, core.shapes[0], "x")], 1)
    plan = _program.Plan(core, options(hlo_run_options, traced=True), _program.Targets((), ()))
    run = _program._Run(plan, arguments, 1)

    def add_is_done(_, event):
        operand = lib.hlo_event_operand(event, 0)
        seen.extend(_values.leaf_addresses(operand) if operand else [])
        return True

    run.trace(add_is_done)
    run()
    result = _values.to_numpy(run.results[0])
    assert seen == [array.ctypes.data]
    assert _values.leaf_addresses(run.results[0].handle) == [result.ctypes.data]
    assert result[-1] == 131070


def test_a_view_in_another_order_is_copied():
    module = hlo.Module("ENTRY main { x = f32[2,3] parameter(0)  ROOT y = f32[2,3] negate(x) }")
    array = np.arange(6, dtype=np.float32).reshape(3, 2).T
    assert (module.run(array) == -array).all()


def test_results_do_not_alias_arguments():
    array = np.ones(1 << 12, np.float32)
    result = hlo.Module("ENTRY main { ROOT x = f32[4096] parameter(0) }").run(array)
    array[:] = 2
    assert (result == 1).all()


def test_arguments_are_released():
    module, array = hlo.Module(DOUBLE), np.ones(3, np.float32)
    module.run(array)
    gc.collect()
    assert not _values._borrowed


def test_memory_does_not_grow():
    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def work(count):
        for k in range(count):
            hlo.Module(DOUBLE.replace("3]", f"{k % 50 + 1000}]")).run(
                np.ones(k % 50 + 1000, np.float32)
            )

    work(200)
    before = resident()
    work(1000)
    assert resident() - before < 8 << 20


def test_trace():
    events = list(hlo.Module(DOUBLE).trace([1, 2, 3]))
    assert [e.instruction.name for e in events] == ["x", "y"]
    assert list(events[1].value) == [2, 4, 6]


def test_a_trace_may_be_dropped():
    for event in hlo.Module(ENDLESS).trace(np.zeros((64, 64), np.float32)):
        if event.instruction.name == "b":
            break
    assert event.within == (("w", 0),)


def test_numbers_that_stop_a_run():
    module = hlo.Module("ENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] log(x) }")
    program = module.compile(stop_on="nan")
    assert program.run([1, 1]).tolist() == [0, 0]
    with pytest.raises(hlo.NumericError) as caught:
        program.run([1, -1])
    assert caught.value.line == 2


def test_a_trace_stops_as_well():
    module = hlo.Module("ENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] log(x) }")
    names = []
    with pytest.raises(hlo.NumericError):
        for event in module.compile(stop_on="nan").trace([1, -1]):
            names.append(event.name)
    assert names == ["x", "y"]


def test_limits():
    with pytest.raises(hlo.LimitError):
        hlo.Module(ENDLESS).compile(max_steps=1000).run(np.zeros((64, 64), np.float32))
    with pytest.raises(hlo.LimitError):
        hlo.Module(ENDLESS).compile(timeout=0.05).run(np.zeros((64, 64), np.float32))


@contextlib.contextmanager
def interrupted():
    """Sends SIGINT after 0.2 seconds, which must raise KeyboardInterrupt."""
    done = threading.Event()
    # Python has no handler if SIGINT was ignored, as it is in background jobs of shells.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def send():
        # Again later, since Python drops the exception if the first one interrupts a `__del__`.
        delay = 0.2
        while not done.wait(delay):
            os.kill(os.getpid(), signal.SIGINT)
            delay = 10

    thread = threading.Thread(target=send)
    with pytest.raises(KeyboardInterrupt):
        try:
            thread.start()
            yield
        finally:
            done.set()
    thread.join()
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run():
    program = hlo.Module(ENDLESS).compile()
    with interrupted():
        program.run(np.zeros((64, 64), np.float32))


def test_ctrl_c_ends_a_trace():
    with interrupted():
        for _ in hlo.Module(ENDLESS).trace(np.zeros((64, 64), np.float32)):
            pass


def test_a_program_runs_after_an_interrupt():
    program = hlo.Module(DOUBLE).compile()
    program.interrupt()
    with pytest.raises(hlo.RunInterrupted):
        program.run([1, 2, 3])
    assert program.run([1, 2, 3]).tolist() == [2, 4, 6]


def test_python_exits_while_values_and_a_trace_exist():
    script = f"""import hlo
trace = hlo.Module({DOUBLE!r}).trace([1, 2, 3])
event = next(trace)
result = hlo.Module({DOUBLE!r}).run([1, 2, 3])
literal = hlo._values.borrow(result, "f32")
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_run_of_another_thread_is_interrupted_while_this_one_works():
    program, caught, ticks = hlo.Module(ENDLESS).compile(), [], 0

    def work():
        try:
            program.run(np.zeros((64, 64), np.float32))
        except hlo.RunInterrupted as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        ticks += 1
    assert ticks > 1000
    program.interrupt()
    thread.join(30)
    assert len(caught) == 1


def test_participants_and_feeds():
    module = hlo.Module(
        "HloModule m, replica_count=2\n"
        "ENTRY main { r = u32[] replica-id()  t = token[] after-all()\n"
        " i = (u32[], token[]) infeed(t)  v = u32[] get-tuple-element(i), index=0\n"
        " k = token[] get-tuple-element(i), index=1  s = u32[] add(r, v)\n"
        " o = token[] outfeed(s, k), outfeed_shape=u32[]  ROOT q = u32[] copy(s) }"
    )
    received = {}
    program = module.compile()
    assert program.participants == 2
    results = program.run_all(
        infeed=lambda participant: np.uint32(10 * participant),
        outfeed=lambda participant, item: received.update({participant: int(item)}),
    )
    assert [int(r) for r in results] == [0, 11] and received == {0: 0, 1: 11}
    with pytest.raises(ZeroDivisionError):
        program.run_all(infeed=lambda participant: 1 // 0)


def test_comparison():
    one, other = np.float32([1, 2]), np.float32([1, 2.0001])
    assert not hlo.allclose(one, other)
    assert hlo.allclose(one, other, rel=1e-3)
    with pytest.raises(AssertionError, match="element"):
        hlo.assert_allclose(other, one)


def test_diff_names_the_first_instruction_that_differs():
    text = (
        "ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[2] OP(x)\n"
        "  ROOT z = f32[2] negate(y)\n}"
    )
    a, b = (hlo.Module(text.replace("OP", op)) for op in ("sine", "cosine"))
    assert not hlo.diff(a, a, np.float32([1, 2]))
    found = hlo.diff(a, b, np.float32([1, 2]))
    assert found and found.b.name == "y"


def test_ctrl_c_ends_a_comparison():
    module = hlo.Module(ENDLESS)
    with interrupted():
        hlo.diff(module, module, np.zeros((64, 64), np.float32))


def test_about():
    assert hlo.about().startswith(f"hlo {hlo.__version__}")
