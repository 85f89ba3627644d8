"""Programs: modules planned with options, and their runs."""

from __future__ import annotations

import _thread
import atexit
import ctypes
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, NamedTuple, Union

from ._errors import Error, Messages, RunError
from ._library import hlo_feeds, hlo_origin, hlo_run_options, hlo_trace_callbacks, lib, options
from ._module import Core, Instruction
from ._values import Literal, any_literal, copy_to_numpy, leaf_ranges, to_literal, to_numpy

_ELIDED = ("refuse", "zero", "iota", "random")
_ODDITIES = {"nan": 1, "inf": 2, "overflow": 4, "denormal": 8}

Infeed = Union[Iterable[Any], Callable[[int], Any]]
Outfeed = Callable[[int, Any], None]


class Event(NamedTuple):
    """An executed instruction."""

    instruction: Instruction
    value: Any
    """A copy of its value: an array, or a tuple of values."""
    participant: int
    number: int
    """Of the event of its participant, from 0."""
    seconds: float
    """Duration; 0 for aliases of values, such as tuples."""
    within: tuple[tuple[str, int], ...]
    """The enclosing instructions (while, call ...), outermost first: name, and iteration of a loop
    from 0, or -1 in its condition."""

    @property
    def name(self) -> str:
        """The name of the instruction."""
        return self.instruction.name


def plan_options(*, elided: str, **members: Any) -> hlo_run_options:
    """The options of `Module.compile` that are members of the struct."""
    if elided not in _ELIDED:
        raise ValueError(f"elided must be one of {', '.join(_ELIDED)}, got {elided!r}")
    found: hlo_run_options = options(hlo_run_options, elided=_ELIDED.index(elided), **members)
    return found


class Targets:
    """Owns custom-call targets."""

    def __init__(self, rules: Sequence[str], libraries: Sequence[str | os.PathLike[str]]):
        self.handle = lib.hlo_targets_new()
        m = Messages()
        for path in libraries:
            m.check(lib.hlo_targets_add_library(self.handle, os.fsencode(path), m.handle), Error)
        for rule in rules:
            m.check(lib.hlo_targets_add_rule(self.handle, rule.encode(), m.handle), Error)

    def __del__(self, free: Any = lib.hlo_targets_free) -> None:
        free(self.handle)


class Plan:
    """Owns the handle of a program, and keeps alive what the handle refers to."""

    def __init__(self, core: Core, o: hlo_run_options, targets: Targets):
        self._keeps = (core, targets)
        core.verify()
        m = Messages()
        self.handle = lib.hlo_plan(core.handle, ctypes.byref(o), m.handle)
        m.check(self.handle, RunError)

    def __del__(self, free: Any = lib.hlo_program_free) -> None:
        free(getattr(self, "handle", None))

    def interrupt(self) -> None:
        """Ends the current run, or the next one."""
        lib.hlo_interrupt(self.handle)


class Arguments:
    """The literals of a run: those of all parameters of one participant, then of the next."""

    def __init__(self, literals: Sequence[Literal], parameters: int):
        self.literals = literals
        self.count = parameters
        self.handles = (ctypes.c_void_p * max(len(literals), 1))(*(a.handle for a in literals))

    def memory(self) -> list[tuple[int, int]]:
        """The memory of the arguments, as pairs of addresses."""
        return [r for a in self.literals for r in leaf_ranges(a.handle)]


def bind(core: Core, args: Sequence[Any], named: dict[str, Any], of: str = "") -> list[Literal]:
    """The literals of all parameters. `of` describes the participant in errors."""
    names = [p.name for p in core.parameters]
    if len(args) > len(names):
        raise TypeError(f"expected {len(names)} arguments{of}, got {len(args)}")
    values: dict[int, Any] = dict(enumerate(args))
    for name, value in named.items():
        k = lib.hlo_param_find(core.handle, name.encode())
        if k < 0:
            raise TypeError(f"no parameter '{name}'; parameters: {', '.join(names)}")
        if k in values:
            raise TypeError(f"multiple values for parameter '{name}'")
        values[k] = value
    missing = [name for k, name in enumerate(names) if k not in values]
    if missing:
        raise TypeError(f"missing arguments{of}: {', '.join(missing)}")
    return [
        to_literal(values[k], shape, f"parameter '{name}'{of}")
        for k, (name, shape) in enumerate(zip(names, core.shapes))
    ]


class Program:
    """A module planned with options: the result of `Module.compile`.

    Arguments may be NumPy arrays, anything that NumPy converts or that has `__dlpack__` (arrays of
    JAX and PyTorch), numbers and lists; a tuple for a tuple. Types and shapes must be those of the
    parameters. Contiguous arrays are not copied, except types below a byte; they must not change
    during the run. Results are arrays that own the memory of their values, tuples of them, or `()`
    for a token.

    A program has one run at a time: runs from several threads wait for each other, while runs of
    different programs are concurrent. Other Python threads run meanwhile. Ctrl-C ends a run of the
    main thread, as does any exception of a signal handler: KeyboardInterrupt is raised once the run
    has ended, after its current instruction. `interrupt` ends a run of another thread.
    """

    def __init__(
        self,
        core: Core,
        o: hlo_run_options,
        *,
        stop_on: tuple[str, ...] = (),
        rules: tuple[str, ...] = (),
        libraries: tuple[str | os.PathLike[str], ...] = (),
    ):
        self._core = core
        self._options = o
        self._targets = Targets(rules, libraries)
        o.targets = self._targets.handle
        unknown = [word for word in stop_on if word not in _ODDITIES]
        if unknown:
            raise ValueError(f"stop_on must be of {', '.join(_ODDITIES)}, got {unknown[0]!r}")
        self._stop_on = sum({_ODDITIES[word] for word in stop_on})
        o.traced = bool(stop_on)
        self._lock = threading.Lock()
        self._plan: Plan | None = None
        self._participants = int(lib.hlo_participants(self._planned().handle))

    def _planned(self) -> Plan:
        """The plan; a new one after an interrupted run, which may have ended before that."""
        if self._plan is None:
            self._plan = Plan(self._core, self._options, self._targets)
        return self._plan

    @property
    def participants(self) -> int:
        """Replicas times partitions."""
        return self._participants

    # ---- runs ----

    def run(self, /, *args: Any, **named: Any) -> Any:
        """Runs the module and returns its result. Arguments by position, by name, or both; all
        participants get the same ones, and the result is that of participant 0.

        TypeError or ValueError if arguments do not fit the parameters; RunError if the run fails,
        LimitError if it exceeds a limit, NumericError for `stop_on`.
        """
        literals = bind(self._core, args, named)
        return self._run(Arguments(literals * self._participants, len(literals)))[0]

    __call__ = run

    def run_all(
        self,
        arguments: Sequence[Sequence[Any]] = (),
        *,
        infeed: Infeed | None = None,
        outfeed: Outfeed | None = None,
    ) -> list[Any]:
        """Runs the module with a sequence of arguments for each participant, or one for all, and
        returns a result for each. Participant = replica * partitions + partition.

        `infeed` is an iterable of items, or a function that returns the next item of a participant
        and raises StopIteration at the end. `outfeed(participant, item)` receives an item. They are
        called from threads of the run, concurrently for different participants; an exception ends
        the run and is raised from here.
        """
        lists = list(arguments) or [()]
        if len(lists) not in (1, self._participants):
            raise ValueError(
                f"expected arguments of 1 or {self._participants} participants, got {len(lists)}"
            )
        labels = [f" of participant {k}" if len(lists) > 1 else "" for k in range(len(lists))]
        literals = [
            a for k, args in enumerate(lists) for a in bind(self._core, args, {}, labels[k])
        ]
        literals *= self._participants // len(lists)
        return self._run(Arguments(literals, len(self._core.shapes)), _Feeds(infeed, outfeed))

    def interrupt(self) -> None:
        """Ends the current run, which raises RunInterrupted, at its next instruction or iteration.
        May be called from any thread. Without a current run, it ends the next one."""
        plan = self._plan
        if plan:
            plan.interrupt()

    def trace(self, /, *args: Any, **named: Any) -> Iterator[Event]:
        """Runs the module, and yields an event for each executed instruction, of all computations
        but those applied to elements (reducers, comparators).

        Every instruction runs one by one on whole values, so values are those of other runs, except
        that sums may differ by rounding. The run waits until the next event is requested, and ends
        if the iterator is closed or dropped. It raises what `run` raises, for `stop_on` after the
        event of the instruction.
        """
        literals = bind(self._core, args, named)
        arguments = Arguments(literals * self._participants, len(literals))
        return self._events(arguments)

    # ---- implementation ----

    def _run(self, arguments: Arguments, feeds: _Feeds | None = None) -> list[Any]:
        with self._lock:
            plan = self._planned()
            run = _Run(plan, arguments, self._participants, feeds)
            if self._stop_on:
                run.trace(_Stopper(self._stop_on, run.messages).after)
            try:
                call_with_signals(run, plan.interrupt)
            except BaseException:
                self._plan = None
                raise
        if feeds and feeds.error:
            raise feeds.error
        run.messages.check(run.ok, RunError)
        memory = arguments.memory()
        return [to_numpy(literal, memory) for literal in run.results]

    def _events(self, arguments: Arguments) -> Iterator[Event]:
        o = hlo_run_options.from_buffer_copy(self._options)
        o.traced = True
        plan = Plan(self._core, o, self._targets)
        run = _Run(plan, arguments, self._participants)
        instructions = self._core.listing().instructions
        tracer = _Tracer(run, plan.interrupt, instructions, _Stopper(self._stop_on, run.messages))
        try:
            yield from tracer.events()
        finally:
            tracer.close()


class _Run:
    """One run of a plan. It owns everything that libhlo uses meanwhile, so it may be abandoned."""

    def __init__(
        self, plan: Plan, arguments: Arguments, participants: int, feeds: _Feeds | None = None
    ):
        self.messages = Messages()
        self.ok = False
        self.results: list[Literal] = []
        self._plan = plan
        self._arguments = arguments
        self._feeds = feeds
        self._handles = (ctypes.c_void_p * participants)()
        self._callbacks: hlo_trace_callbacks | None = None

    def trace(self, after: Callable[[Any, Any], bool]) -> None:
        """Sets the callback of trace events, which must not raise."""
        self._callbacks = options(hlo_trace_callbacks, after=after)
        lib.hlo_trace(self._plan.handle, ctypes.byref(self._callbacks))

    def __call__(self) -> None:
        self.ok = lib.hlo_run_all(
            self._plan.handle,
            self._arguments.handles,
            self._arguments.count,
            ctypes.byref(self._feeds.struct) if self._feeds else None,
            self._handles,
            self.messages.handle,
        )
        self.results = [Literal(handle or 0) for handle in self._handles]
        if self._callbacks:
            lib.hlo_trace(self._plan.handle, None)
            self._callbacks = None  # may refer to this object


def call_with_signals(run: Callable[[], None], interrupt: Callable[[], None]) -> None:
    """Calls `run`, on the main thread so that signal handlers are called meanwhile: in another
    thread, while this one waits. If a handler raises an exception (Ctrl-C), the run is interrupted,
    and the exception continues when it has ended. A second exception continues at once, so `run`
    must own what it uses."""
    if threading.current_thread() is not threading.main_thread():
        run()
        return
    done = _thread.allocate_lock()
    done.acquire()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            run()
        except BaseException as error:  # out of memory
            failed.append(error)
        finally:
            done.release()

    try:
        try:
            _thread.start_new_thread(work, ())
        except RuntimeError:  # too many threads
            done.release()
            raise
        done.acquire()
    except BaseException:
        interrupt()
        done.acquire()
        raise
    if failed:
        raise failed[0]


class _Tracer:
    """Runs in a thread, and passes the events, for each of which the run waits, to an iterator."""

    def __init__(
        self,
        run: _Run,
        interrupt: Callable[[], None],
        instructions: tuple[Instruction, ...],
        stopper: _Stopper,
    ):
        self._run = run
        self._interrupt = interrupt
        self._instructions = instructions
        self._stopper = stopper
        self._queue: queue.Queue[Event | Exception | None] = queue.Queue()
        self._taken = threading.Semaphore(0)
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        try:
            self._run.trace(self._after)
            self._run()
            ended = self._run.ok or self._closed
            self._queue.put(None if ended else self._run.messages.exception(RunError))
        except Exception as error:  # out of memory
            self._queue.put(error)

    def _after(self, context: Any, pointer: Any) -> bool:
        if self._closed:
            return False
        try:
            self._queue.put(self._event(pointer))
        except Exception as error:
            self._queue.put(error)
            return False
        self._taken.acquire()
        return not self._closed and self._stopper.after(context, pointer)

    def _event(self, pointer: Any) -> Event:
        e = pointer.contents
        handle = lib.hlo_event_value(pointer)
        if not handle:
            raise MemoryError("out of memory")
        # Copied here, in the thread of the run: an array that owned a literal would be deleted by
        # the other one in a `__del__`, where Python drops exceptions such as KeyboardInterrupt.
        value = copy_to_numpy(handle)
        within = tuple((self._instructions[w.inst].name, w.iteration) for w in e.within[: e.depth])
        return Event(self._instructions[e.inst], value, e.participant, e.number, e.seconds, within)

    def events(self) -> Iterator[Event]:
        _tracers.add(self)
        self._thread.start()
        while True:
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item
            del item
            self._taken.release()

    def close(self) -> None:
        """Ends the run."""
        self._closed = True
        self._interrupt()
        self._taken.release()
        if self._thread.ident is not None:  # started
            self._thread.join()
        _tracers.discard(self)


_tracers: set[_Tracer] = set()
"""Those that are not closed."""


@atexit.register
def _close_tracers() -> None:
    """Ends runs of iterators that exist when Python exits: later their threads could not."""
    for tracer in list(_tracers):
        tracer.close()


class _Stopper:
    """Ends a run at the first instruction that produces a number in `what`, with an error in the
    messages of the run. Calls of several participants are serialized by libhlo."""

    def __init__(self, what: int, messages: Messages):
        self._what = what
        self._messages = messages
        self._infinities: dict[int, int] = {}

    def after(self, _: Any, event: Any) -> bool:
        origin = hlo_origin()
        e = event.contents
        infinities = self._infinities.get(e.participant, 0)
        if self._what & _ODDITIES["nan"] and not infinities:
            if lib.hlo_event_origin(event, _ODDITIES["inf"], ctypes.byref(origin)):
                infinities = self._infinities[e.participant] = e.inst + 1
        if not self._what or not lib.hlo_event_origin(event, self._what, ctypes.byref(origin)):
            return True
        origin.infinities = infinities
        lib.hlo_event_report(event, ctypes.byref(origin), True, self._messages.handle)
        return False


class _Feeds:
    """Callbacks for infeed and outfeed."""

    def __init__(self, infeed: Infeed | None, outfeed: Outfeed | None):
        self.error: BaseException | None = None
        self._next = infeed if callable(infeed) else _shared_iterator(infeed or ())
        self._outfeed = outfeed
        self.struct = options(
            hlo_feeds, infeed=self._take, outfeed=self._put if outfeed else None
        )

    def _take(self, _: Any, participant: int, call: int, m: int) -> int | None:
        try:
            return any_literal(self._next(participant)).release()
        except StopIteration:
            lib.hlo_messages_add(m, b"infeed", b"no more items")
        except BaseException as error:
            self._fail(error, m)
        return None

    def _put(self, _: Any, participant: int, item: int, call: int, m: int) -> bool:
        try:
            assert self._outfeed
            self._outfeed(participant, copy_to_numpy(item))
            return True
        except BaseException as error:
            self._fail(error, m)
            return False

    def _fail(self, error: BaseException, m: int) -> None:
        self.error = self.error or error
        lib.hlo_messages_add(m, b"feed", repr(error).encode())


def _shared_iterator(items: Iterable[Any]) -> Callable[[int], Any]:
    """The next item, for any participant, from any thread."""
    iterator, lock = iter(items), threading.Lock()

    def take(_: int) -> Any:
        with lock:
            return next(iterator)

    return take
