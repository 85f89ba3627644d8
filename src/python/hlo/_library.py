"""The shared library libhlo and the declarations of its functions and structs.

`DECLARATIONS` has the prototypes as they are in hlo.h and hlo_advanced.h, and the struct classes
the members in their order; the tests compare both with the headers.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_long,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import numpy  # noqa: F401  (its own OpenBLAS must read the environment before `_load` sets it)


class hlo_text(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class hlo_message(Structure):
    _fields_ = [
        ("id", c_char_p),
        ("error", c_bool),
        ("file", c_char_p),
        ("line", c_uint32),
        ("column", c_uint32),
        ("text", c_char_p),
    ]


class hlo_array(Structure):
    _fields_ = [
        ("dtype", c_char_p),
        ("rank", c_size_t),
        ("dims", POINTER(c_int64)),
        ("element_size", c_size_t),
        ("elements", c_size_t),
        ("data", c_void_p),
    ]


class hlo_tolerance(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("abs", c_double),
        ("rel", c_double),
        ("ulp", c_int64),
        ("zeros", c_bool),
        ("bits", c_bool),
        ("usual", c_bool),
    ]


class hlo_run_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("plain", c_bool),
        ("elided", c_int),
        ("seed", c_uint64),
        ("targets", c_void_p),
        ("max_steps", c_uint64),
        ("max_trip", c_uint64),
        ("max_memory", c_uint64),
        ("timeout", c_double),
        ("threads", c_int),
        ("world", c_void_p),
        ("only_first", c_bool),
        ("traced", c_bool),
    ]


INFEED = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_void_p, c_void_p)
OUTFEED = ctypes.CFUNCTYPE(c_bool, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, c_void_p)


class hlo_feeds(Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("infeed", INFEED), ("outfeed", OUTFEED)]


class hlo_listed_computation(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("entry", c_bool),
        ("first", c_size_t),
        ("count", c_size_t),
        ("root", c_size_t),
        ("parameter_count", c_size_t),
        ("caller_count", c_size_t),
        ("parameters", POINTER(c_size_t)),
        ("callers", POINTER(c_size_t)),
        ("line", c_uint32),
    ]


class hlo_listed(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("op", c_char_p),
        ("shape", c_char_p),
        ("computation", c_size_t),
        ("parameter", c_long),
        ("operand_count", c_size_t),
        ("user_count", c_size_t),
        ("callee_count", c_size_t),
        ("operands", POINTER(c_size_t)),
        ("users", POINTER(c_size_t)),
        ("callees", POINTER(c_size_t)),
        ("line", c_uint32),
        ("column", c_uint32),
        ("op_name", c_char_p),
        ("where", c_char_p),
        ("missing_frame", c_long),
    ]


class hlo_within(Structure):
    _fields_ = [("inst", c_size_t), ("iteration", c_int64)]


class hlo_event(Structure):
    _fields_ = [
        ("inst", c_size_t),
        ("participant", c_size_t),
        ("number", c_uint64),
        ("seconds", c_double),
        ("depth", c_size_t),
        ("within", POINTER(hlo_within)),
        ("run", c_void_p),
    ]


EVENT = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(hlo_event))


class hlo_trace_callbacks(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("context", c_void_p),
        ("before", EVENT),
        ("after", EVENT),
        ("skipped", EVENT),
    ]


class hlo_origin(Structure):
    _fields_ = [
        ("what", c_int),
        ("leaf", c_size_t),
        ("index", c_int64),
        ("count", c_uint64),
        ("infinities", c_size_t),
    ]


class hlo_differing(Structure):
    _fields_ = [
        ("leaf", c_size_t),
        ("index", c_int64),
        ("actual", c_double),
        ("expected", c_double),
        ("abs", c_double),
        ("rel", c_double),
        ("ulp", c_uint64),
    ]


class hlo_difference(Structure):
    _fields_ = [
        ("comparable", c_bool),
        ("elements", c_uint64),
        ("outside", c_uint64),
        ("not_finite", c_uint64),
        ("worst_abs", c_double),
        ("worst_rel", c_double),
        ("worst_ulp", c_uint64),
        ("worst_count", c_size_t),
        ("worst", hlo_differing * 10),
        ("decades", c_uint64 * 32),
    ]


class hlo_comparison(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("a", c_void_p),
        ("b", c_void_p),
        ("pairing", c_void_p),
        ("args", POINTER(c_void_p)),
        ("count", c_size_t),
        ("tolerance", POINTER(hlo_tolerance)),
    ]


class hlo_change(Structure):
    _fields_ = [("inst", c_size_t), ("by", c_size_t), ("text", hlo_text)]


class hlo_divergence(Structure):
    _fields_ = [
        ("instructions", c_uint64),
        ("compared", c_uint64),
        ("unequal", c_uint64),
        ("found", c_bool),
        ("participant", c_size_t),
        ("a", c_size_t),
        ("b", c_size_t),
        ("origin", c_size_t),
        ("applied", c_bool),
        ("applied_a", c_size_t),
        ("applied_b", c_size_t),
        ("occurrence", c_uint64),
        ("value_a", c_void_p),
        ("value_b", c_void_p),
        ("difference", hlo_difference),
        ("changes", hlo_change * 3),
        ("change_count", c_size_t),
        ("results_agree", c_bool),
        ("results", hlo_difference),
        ("result_a", c_void_p),
        ("result_b", c_void_p),
    ]


STRUCTS = {
    cls.__name__: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Structure) and cls is not Structure
}

DECLARATIONS = """
void hlo_text_free(hlo_text *text);
hlo_text hlo_about(void);
hlo_messages *hlo_messages_new(void);
void hlo_messages_free(hlo_messages *m);
size_t hlo_messages_errors(const hlo_messages *m);
size_t hlo_messages_count(const hlo_messages *m);
bool hlo_messages_limit(const hlo_messages *m);
struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i);
hlo_text hlo_messages_draw(const hlo_messages *m, bool color);
void hlo_messages_add(hlo_messages *m, const char *file, const char *text);
hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m);
hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict);
void hlo_file_free(hlo_file *f);
size_t hlo_file_count(const hlo_file *f);
const char *hlo_file_title(const hlo_file *f, size_t part);
bool hlo_file_has_results(const hlo_file *f);
hlo_module *hlo_parse(const hlo_file *f, size_t part, hlo_messages *m);
void hlo_module_free(hlo_module *module);
bool hlo_verify(const hlo_module *module, hlo_messages *m);
hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style);
int64_t hlo_replica_count(const hlo_module *module);
int64_t hlo_num_partitions(const hlo_module *module);
void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions);
size_t hlo_param_count(const hlo_module *module);
const char *hlo_param_name(const hlo_module *module, size_t i);
hlo_text hlo_param_shape(const hlo_module *module, size_t i);
long hlo_param_find(const hlo_module *module, const char *name);
void hlo_literal_free(hlo_literal *l);
hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m);
hlo_text hlo_literal_print(const hlo_literal *l, bool with_shape);
hlo_text hlo_literal_shape(const hlo_literal *l);
size_t hlo_literal_leaves(const hlo_literal *l);
struct hlo_array hlo_literal_leaf(const hlo_literal *l, size_t i);
hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
    void (*release)(void *context), void *context, hlo_messages *m);
hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count);
size_t hlo_literal_count(const hlo_literal *l);
const hlo_literal *hlo_literal_element(const hlo_literal *l, size_t i);
bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected,
    const struct hlo_tolerance *t, hlo_text *why);
hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *options,
    hlo_messages *m);
void hlo_program_free(hlo_program *p);
size_t hlo_participants(const hlo_program *p);
bool hlo_feed_stopped(const hlo_feed_call *call);
bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count,
    const struct hlo_feeds *feeds, hlo_literal **results, hlo_messages *m);
void hlo_interrupt(hlo_program *p);
hlo_text hlo_messages_draw_one(const hlo_messages *m, size_t i, const char *colors);
hlo_listing *hlo_list(const hlo_module *module);
void hlo_listing_free(hlo_listing *l);
size_t hlo_list_count(const hlo_listing *l);
size_t hlo_list_computations(const hlo_listing *l);
struct hlo_listed_computation hlo_list_computation(const hlo_listing *l, size_t i);
struct hlo_listed hlo_list_inst(const hlo_listing *l, size_t i);
hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual,
    const hlo_literal *expected, const char *const names[2]);
hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed,
    hlo_messages *m);
hlo_literal *hlo_fake_param(const hlo_module *module, size_t param, enum hlo_fake kind,
    uint64_t seed, hlo_messages *m);
size_t hlo_stored_arguments(const hlo_module *module);
hlo_literal *hlo_stored_argument(const hlo_module *from, const hlo_module *module, size_t param,
    size_t participant, hlo_messages *m);
hlo_literal *hlo_stored_result(const hlo_module *from, size_t participant, hlo_messages *m);
hlo_targets *hlo_targets_new(void);
void hlo_targets_free(hlo_targets *t);
bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m);
bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m);
const hlo_literal *hlo_event_operand(const struct hlo_event *s, size_t k);
const hlo_literal *hlo_event_value(const struct hlo_event *s);
bool hlo_event_origin(const struct hlo_event *s, unsigned what, struct hlo_origin *out);
void hlo_event_report(const struct hlo_event *s, const struct hlo_origin *o, bool error,
    hlo_messages *m);
bool hlo_trace(hlo_program *p, const struct hlo_trace_callbacks *o);
hlo_pairing *hlo_pair(const hlo_listing *a, const hlo_listing *b);
void hlo_pairing_free(hlo_pairing *p);
bool hlo_diverge(const struct hlo_comparison *c, struct hlo_divergence *out, hlo_messages *m);
void hlo_divergence_free(struct hlo_divergence *d);
"""

_SCALARS: dict[str, Any] = {
    "void": None,
    "bool": c_bool,
    "size_t": c_size_t,
    "long": c_long,
    "unsigned": ctypes.c_uint,
    "int64_t": c_int64,
    "uint64_t": c_uint64,
}


def _type(declaration: str) -> Any:
    """The ctypes type of a declared parameter or result, without its name."""
    words = declaration.replace("const", " ").replace("struct", " ").split()
    if "(" in declaration:
        return RELEASE
    stars = "".join(words).count("*") + declaration.count("[")
    base = words[0].strip("*")
    if stars == 0:
        return c_int if base == "enum" else STRUCTS.get(base) or _SCALARS[base]
    if stars > 1:
        return POINTER(c_void_p)
    if base == "char":
        return c_char_p
    if base == "int64_t":
        return POINTER(c_int64)
    return POINTER(STRUCTS[base]) if base in STRUCTS else c_void_p


def prototypes() -> dict[str, tuple[str, list[str]]]:
    """The declared functions: the text of the result, and those of the parameters."""
    found = {}
    for declaration in DECLARATIONS.strip().split(";")[:-1]:
        m = re.match(r"\s*([^()]*?)(hlo_\w+)\((.*)\)$", " ".join(declaration.split()))
        assert m
        parts = re.split(r", (?![^(]*\))", m[3])
        found[m[2]] = (m[1].strip(), [] if parts == ["void"] else parts)
    return found


def _declare(lib: ctypes.CDLL) -> None:
    for name, (result, parameters) in prototypes().items():
        function = getattr(lib, name)
        function.restype = _type(result)
        function.argtypes = [_type(re.sub(r"\w+$", "", p)) for p in parameters]


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
    """An option struct with its size."""
    return cls(size=ctypes.sizeof(cls), **members)


def about() -> str:
    """Versions of libhlo, OpenBLAS and FFTW, and the instruction set in use, as text."""
    return take_text(lib.hlo_about())
