#!/usr/bin/env python3
"""Compares `hlo` with onnxruntime and ONNX's reference evaluator on ONNX models.

    onnx_diff.py HLO [--corpus DIR] [--random N] [--seed S] [--oracle ORACLE.py] [--work DIR] [--only WORDS]

A development tool, not part of the tests: it requires the packages onnx, onnxruntime and numpy. The
models are

    those of the JSON files in DIR        with their expected outputs
    the node tests of ONNX with loops     with their expected outputs
    the example of ONNX's Loop            b_out 6, user_defined_vals {12, -6}
    N random ones                         all versions, modes and element types; nested loops, branches,
                                          sequences, growing values; expected outputs are computed by
                                          the numpy implementation of the specification below

Each model is checked by onnx.checker, run by ONNX's reference evaluator and onnxruntime if they support
it, by `hlo run` with arrays from an .npz file, and by `hlo test` with ONNX's data files; its text is
checked by XLA's parser (ORACLE.py check).

Known differences: the reference evaluator stacks scalars as [n,1]; it and onnxruntime end a loop without
a condition input if the condition of the body is false, which the specification ignores.
"""
import argparse, collections, json, os, random, re, shutil, subprocess, sys, warnings

warnings.filterwarnings("ignore")
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Case = collections.namedtuple("Case", "name kind model inputs expected")
RTOL, ATOL = 1e-3, 1e-7

# ---- values and types ----

NAMES = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
         "float16": 10, "double": 11, "uint32": 12, "uint64": 13}


def type_of_text(text):
    """`float[5,?]`, `seq(float[?])`, `optional(...)`, `?` as a TypeProto; None for `?`."""
    m = re.fullmatch(r"(seq|optional)\((.*)\)", text)
    if m:
        make = helper.make_sequence_type_proto if m[1] == "seq" else helper.make_optional_type_proto
        return make(type_of_text(m[2]))
    m = re.fullmatch(r"(\w+)\[(.*)\]", text)
    if m:
        dims = [int(d) if d.isdigit() else None if d == "?" else d for d in m[2].split(",") if d]
        return helper.make_tensor_type_proto(NAMES[m[1]], dims)
    return None if text == "?" else helper.make_tensor_type_proto(NAMES[text], None)


def info(name, text):
    type_proto = type_of_text(text)
    return helper.make_value_info(name, type_proto) if type_proto else onnx.ValueInfoProto(name=name)


def same(actual, expected):
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(actual, list):
        return False
    if actual.dtype.kind == "V":
        actual = actual.view(expected.dtype)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if expected.dtype.kind in "iub":
        return np.array_equal(actual, expected)
    wide = [x.astype(np.float64) if x.dtype.kind != "c" else x for x in (actual, expected)]
    return np.allclose(*wide, rtol=RTOL, atol=ATOL, equal_nan=True)


def show(v):
    return "none" if v is None else str([x.tolist() for x in v] if isinstance(v, list) else v.tolist())[:300]


# ---- cases: JSON files ----

def array_of_json(v):
    return np.array(v["data"], dtype=v["type"]).reshape(v["shape"])


def value_of_json(v):
    if v is None:
        return None
    return [array_of_json(e) for e in v["sequence"]] if "sequence" in v else array_of_json(v)


def attribute_of_json(v):
    if isinstance(v, dict) and "nodes" in v:
        return graph_of_json(v, "body")
    return numpy_helper.from_array(array_of_json(v)) if isinstance(v, dict) and "data" in v else v


def graph_of_json(g, name):
    nodes = [helper.make_node(n["op"], n["inputs"], n["outputs"],
                              **{k: attribute_of_json(a) for k, a in n["attributes"].items()}) for n in g["nodes"]]
    return helper.make_graph(nodes, name, [info(i["name"], i["type"]) for i in g["inputs"]],
                             [info(o["name"], o["type"]) for o in g["outputs"]])


def corpus(directory):
    for file in sorted(os.listdir(directory)):
        if file.endswith(".json"):
            j = json.load(open(os.path.join(directory, file)))
            opsets = [helper.make_opsetid("" if d == "ai.onnx" else d, v) for d, v in j["opset"].items()]
            yield Case(j["name"], "corpus", model_of(graph_of_json(j["graph"], j["name"]), opsets),
                       [value_of_json(i["value"]) for i in j["inputs"]],
                       [value_of_json(e["value"]) for e in j["expected"]])


def model_of(graph, opsets):
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 10 if opsets[0].version <= 25 else model.ir_version
    return model


# ---- cases: the node tests of onnx ----

def loops(graph):
    return any(n.op_type == "Loop" or any(a.type == onnx.AttributeProto.GRAPH and loops(a.g) for a in n.attribute)
               for n in graph.node)


def node_tests():
    from onnx.backend.test.case.node import collect_testcases
    for case in collect_testcases(None):
        if case.model is not None and loops(case.model.graph):
            for inputs, outputs in case.data_sets:
                plain = lambda values: [v if v is None or isinstance(v, list) else np.asarray(v) for v in values]
                yield Case("node_" + case.name, "node test", case.model, plain(inputs), plain(outputs))


# ---- cases: the example of Loop ----

def worked_example():
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "b_in"], ["my_local"]), helper.make_node("Sub", ["a", "b_in"], ["b_out"]),
         helper.make_node("Greater", ["my_local", "b_out"], ["keepgoing_out"]),
         helper.make_node("Add", ["b_in", "b_in"], ["user_defined_val"])], "body-net",
        [info("i", "int64[]"), info("keepgoing_in", "bool[]"), info("b_in", "int32[]")],
        [info("keepgoing_out", "bool[]"), info("b_out", "int32[]"), info("user_defined_val", "int32[]")])
    constant = lambda name, v: helper.make_node("Constant", [], [name], value=numpy_helper.from_array(v))
    graph = helper.make_graph(
        [constant("a", np.int32(3)), constant("b", np.int32(6)), constant("keepgoing", np.bool_(True)),
         constant("max_trip_count", np.int64(10)),
         helper.make_node("Loop", ["max_trip_count", "keepgoing", "b"], ["b_out_final", "user_defined_vals"], body=body)],
        "predict-net", [], [info("b_out_final", "int32[]"), info("user_defined_vals", "int32[?]")])
    for opset in OPSETS.values():
        yield Case("example_opset%d" % opset, "example", model_of(graph, [helper.make_opsetid("", opset)]), [],
                   [np.int32(6) + np.zeros((), np.int32), np.array([12, -6], np.int32)])


# ---- cases: random ones ----

OPSETS = {1: 10, 11: 11, 13: 13, 16: 16, 19: 19, 21: 21, 23: 23, 24: 24, 25: 25}  # version of Loop -> an opset that has it
MODES = ["cond", "true", "trip", "trip cond", "trip true"]  # which of trip count and condition are given
TYPES = {"float": np.float32, "double": np.float64, "int32": np.int32, "int64": np.int64, "float16": np.float16}
TYPE_NUMBERS = {TYPES[name]: NAMES[name] for name in TYPES}


class Body:
    """The nodes of a graph under construction, with unique names."""

    def __init__(self, rng, opset, prefix):
        self.rng, self.opset, self.prefix, self.nodes, self.count = rng, opset, prefix, [], 0

    def name(self):
        self.count += 1
        return "%s%d" % (self.prefix, self.count)

    def op(self, kind, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def constant(self, value, dtype):
        return self.op("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def axes_input(self):
        """Axes of Squeeze; without any, it removes all dimensions of size 1."""
        return [self.constant([0], np.int64)] if self.opset >= 13 and self.rng.random() < 0.5 else []

    def unsqueeze(self, x):
        if self.opset < 13:
            return self.op("Unsqueeze", x, axes=[0])
        return self.op("Unsqueeze", x, self.constant([0], np.int64))


def step(b, x, others, dtype, depth):
    """An expression of the shape of x over x and values that broadcast to it."""
    rng = b.rng
    for _ in range(rng.randint(1, 3)):
        other = rng.choice(others)
        kind = rng.choice(["Add", "Sub", "Add", "Identity", "if", "loop", "halves", "shape"])
        if kind == "Identity":
            x = b.op("Identity", x)
        elif kind == "if":
            x = branch(b, x, other, dtype)
        elif kind == "loop" and depth < 2:
            x = inner_loop(b, x, other, dtype, depth)
        elif kind == "halves":  # cut where a size says, and put together the other way round
            cut = b.constant([rng.randint(0, 3)], np.int64)
            x = b.op("Concat", b.op("Slice", x, cut, b.constant([99], np.int64)),
                     b.op("Slice", x, b.constant([0], np.int64), cut), axis=0)
        elif kind == "shape":
            x = b.op("Add", x, b.op("Cast", b.op("Squeeze", b.op("Shape", x), *b.axes_input()), to=TYPE_NUMBERS[dtype]))
        else:
            x = b.op(kind if kind != "loop" else "Add", x, other)
    return x


def branch(b, x, other, dtype):
    """An If on a scalar; both branches use outer values."""
    test = b.op("Greater", "outer_one", b.constant(b.rng.randint(-3, 3), dtype))
    graphs = []
    for kind in b.rng.sample(["Add", "Sub", "Identity"], 2):
        inner = Body(b.rng, b.opset, b.name() + "_")
        out = inner.op(kind, x, *([other] if kind != "Identity" else []))
        graphs.append(helper.make_graph(inner.nodes, "branch", [], [onnx.ValueInfoProto(name=out)]))
    return b.op("If", test, then_branch=graphs[0], else_branch=graphs[1])


def inner_loop(b, x, other, dtype, depth):
    inner = Body(b.rng, b.opset, b.name() + "_")
    names = {k: b.name() for k in ("i", "c", "v")}
    text = {v: k for k, v in TYPES.items()}[dtype]
    out = step(inner, names["v"], [other, names["v"]], dtype, depth + 1)
    out, cond = inner.op("Identity", out), inner.op("Identity", names["c"])
    graph = helper.make_graph(
        inner.nodes, "inner", [info(names["i"], "int64[]"), info(names["c"], "bool[]"), info(names["v"], text)],
        [info(cond, "bool[]"), info(out, text)])
    trips = b.constant(b.rng.randint(0, 3), np.int64)
    return b.op("Loop", trips, "", x, body=graph) if b.rng.random() < 0.5 else \
        b.op("Loop", trips, b.constant(True, np.bool_), x, body=graph)


def grown(b, as_type, rng):
    """The elements appended to a growing value: one, as many as iterations so far, or the rest of the row."""
    kind = rng.choice(["one", "range", "slice"])
    if kind == "one":
        return b.unsqueeze(as_type)
    if kind == "range" and b.opset >= 11:
        return b.op("Cast", b.op("Range", b.constant(0, np.int64), "i", b.constant(1, np.int64)), to=TYPE_NUMBERS[b.dtype])
    return b.op("Slice", "outer_row", b.unsqueeze("i"), b.constant([3], np.int64))


def sequence_step(b, v, as_type, rng):
    """Another element at the end of or within a sequence, possibly computed from one of its elements."""
    element = b.op("Add", rng.choice(["v_in", v]), as_type)
    q = b.op("SequenceInsert", "q_in", element)
    kind = rng.choice(["end", "front", "again", "sizes"])
    if kind == "front":
        q = b.op("SequenceInsert", "q_in", element, b.constant(0, np.int64))
    elif kind == "again":
        q = b.op("SequenceInsert", q, b.op("Mul", b.op("SequenceAt", q, b.constant(-1, np.int64)), "outer_one"))
    elif kind == "sizes":
        q = b.op("SequenceInsert", q, grown(b, as_type, rng))
    return q


class Inputs:
    """The inputs of the graph: real inputs, or constants in one of three forms."""

    def __init__(self, rng):
        self.rng, self.nodes, self.infos, self.values, self.initializers = rng, [], [], [], []

    def feed(self, name, kind, value, may_be_constant=True):
        how = self.rng.random() if may_be_constant else 1
        if how < 0.15:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value)))
        elif how < 0.3:
            self.initializers.append(numpy_helper.from_array(value, name))
        else:
            if self.rng.random() < 0.3:  # sizes that the model does not say
                kind = re.sub(r"\[\d+\]", lambda m: self.rng.choice(["[?]", "[N]"]), kind)
            self.infos.append(info(name, kind))
            self.values.append(value)


def random_body(rng, version, text, size, grows, sequence):
    """The body, the names and types of carried values, and the types of scan outputs."""
    b = Body(rng, OPSETS[version], "b")
    b.dtype = dtype = TYPES[text]
    fixed = "%s[%d]" % (text, size)
    carried = [("v", fixed), ("n", "int64[]")] + [("w", text + "[?]")] * grows + [("q", "seq(%s)" % text)] * sequence
    as_type = b.op("Cast", "i", to=NAMES[text])
    v = step(b, "v_in", ["outer_row", "outer_one", as_type], dtype, 0)
    n = b.op("Add", "n_in", b.constant(rng.randint(1, 2), np.int64))
    outs = [b.op("Identity", v), b.op("Identity", n)]
    if grows:
        outs.append(b.op("Concat", *rng.sample(["w_in", grown(b, as_type, rng)], 2), axis=0))
    if sequence:
        outs.append(sequence_step(b, v, as_type, rng))
    scans = []
    for _ in range(rng.randint(0, 2)):
        scans.append(rng.choice([(b.op("Identity", "v_in"), fixed), (b.op("Mul", v, "outer_row"), fixed),
                                 (b.op("Identity", as_type), text + "[]"), (b.op("Add", n, "i"), "int64[]")]))
    return b, carried, outs, scans, n


def random_case(rng, number):
    version, mode, text = rng.choice(list(OPSETS)), rng.choice(MODES), rng.choice(list(TYPES))
    dtype, size = TYPES[text], rng.randint(1, 4)
    grows, sequence = version >= 11 and rng.random() < 0.4, version >= 13 and rng.random() < 0.4
    b, carried, outs, scans, n = random_body(rng, version, text, size, grows, sequence)
    many = rng.choice([0, 0, 0, 70])  # further than the first bound of a run goes
    cond = b.op("Less", n, b.constant(rng.randint(0, 9) + many, np.int64)) if rng.random() < 0.8 or "trip" not in mode \
        else b.op("Identity", "cond_in")
    typed = (lambda name, t: info(name, t)) if rng.random() < 0.8 else (lambda name, t: onnx.ValueInfoProto(name=name))
    body = helper.make_graph(
        b.nodes, "body", [info("i", "int64[]"), info("cond_in", "bool[]")] + [info(k + "_in", t) for k, t in carried],
        [info(cond, "bool[]")] + [typed(o, t) for o, (_, t) in zip(outs, carried)] + [info(o, t) for o, t in scans])
    f = Inputs(rng)
    number_of = lambda *shape: np.array([rng.randint(-3, 3) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
    if "trip" in mode:
        f.feed("M", "int64[]", np.array(rng.randint(0, 6) + many, np.int64))
    if "cond" in mode:
        f.feed("cond", "bool[]", np.array(rng.random() < 0.85))
    elif "true" in mode:
        f.nodes.append(helper.make_node("Constant", [], ["cond"], value=numpy_helper.from_array(np.array(True))))
    f.feed("outer_row", "%s[%d]" % (text, size), number_of(size))
    f.feed("outer_one", text + "[]", number_of())
    f.feed("v", "%s[%d]" % (text, size), number_of(size))
    f.feed("n", "int64[]", np.array(rng.randint(0, 2), np.int64))
    if grows:
        f.feed("w", text + "[?]", number_of(rng.randint(0, 2)), False)
    if sequence:
        f.feed("q", "seq(%s)" % text, [number_of(size) for _ in range(rng.randint(0, 2))], False)
    results = [(k + "_out", t) for k, t in carried] + [("s%d" % k, t) for k, (_, t) in enumerate(scans)]
    f.nodes.append(helper.make_node("Loop", ["M" if "trip" in mode else "", "cond" if mode != "trip" else ""] +
                                    [k for k, _ in carried], [r for r, _ in results], body=body))
    types = [t for _, t in carried] + [re.sub(r"\[", "[?," if not t.endswith("[]") else "[?", t, count=1) for _, t in scans]
    graph = helper.make_graph(f.nodes, "random", f.infos, [info(r, t) for (r, _), t in zip(results, types)], f.initializers)
    name = "random%d_v%d_%s_%s" % (number, version, mode.replace(" ", "_"), text)
    return Case(name, "random", model_of(graph, [helper.make_opsetid("", OPSETS[version])]), f.values, None)


# ---- expected outputs of random models: the specification in numpy ----

def evaluate(graph, values, opset):
    """The outputs of a graph for the values of its names and of the enclosing scopes."""
    values = dict(values)
    for init in graph.initializer:
        values[init.name] = numpy_helper.to_array(init)
    for node in graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        inputs = [values[i] if i else None for i in node.input]
        if node.op_type == "If":
            results = evaluate(attributes["then_branch" if inputs[0] else "else_branch"], values, opset)
        elif node.op_type == "Loop":
            results = evaluate_loop(attributes["body"], inputs, values, opset)
        else:
            results = [SIMPLE[node.op_type](opset, attributes, *inputs)]
        values.update(zip(node.output, results))
    return [values[o.name] for o in graph.output]


def evaluate_loop(body, inputs, values, opset):
    """for (i = 0; i < trips && cond; i++); an absent input has no effect, nor then the condition of the body."""
    trips, cond, carried = inputs[0], inputs[1], inputs[2:]
    names = [i.name for i in body.input]
    scans = [[] for _ in body.output[1 + len(carried):]]
    i, go = 0, cond is None or bool(cond)
    while go and (trips is None or i < int(trips)):
        feeds = dict(values)
        feeds.update(zip(names, [np.array(i, np.int64), np.array(go)] + carried))
        outputs = evaluate(body, feeds, opset)
        go = cond is None or bool(outputs[0])
        carried = outputs[1:1 + len(carried)]
        for scan, value in zip(scans, outputs[1 + len(carried):]):
            scan.append(value)
        i += 1
    return carried + [np.stack(s) if s else empty_scan(o) for s, o in zip(scans, body.output[1 + len(carried):])]


def empty_scan(port):
    t = port.type.tensor_type
    return np.zeros([0] + [d.dim_value for d in t.shape.dim], helper.tensor_dtype_to_np_dtype(t.elem_type))


SIMPLE = {
    "Constant": lambda opset, a: numpy_helper.to_array(a["value"]),
    "Identity": lambda opset, a, x: x,
    "Add": lambda opset, a, x, y: np.asarray(x + y),
    "Sub": lambda opset, a, x, y: np.asarray(x - y),
    "Mul": lambda opset, a, x, y: np.asarray(x * y),
    "Less": lambda opset, a, x, y: np.asarray(x < y),
    "Greater": lambda opset, a, x, y: np.asarray(x > y),
    "Cast": lambda opset, a, x: x.astype(helper.tensor_dtype_to_np_dtype(a["to"])),
    "Concat": lambda opset, a, *x: np.concatenate(x, a["axis"]),
    "Unsqueeze": lambda opset, a, x, *axes: np.expand_dims(x, 0),
    "Slice": lambda opset, a, x, start, end: x[int(start[0]):int(end[0])],
    "Shape": lambda opset, a, x: np.array(x.shape, np.int64),
    "Squeeze": lambda opset, a, x, *axes: np.squeeze(x, 0) if axes else np.squeeze(x),
    "Range": lambda opset, a, start, limit, delta: np.arange(start, limit, delta),
    "SequenceAt": lambda opset, a, q, k: q[int(k)],
    "SequenceInsert": lambda opset, a, q, x, *at: q[:int(at[0])] + [x] + q[int(at[0]):] if at else q + [x],
}


# ---- the runs ----

def named_inputs(case):
    return dict(zip([i.name for i in case.model.graph.input], case.inputs))


def by_reference(case):
    return ReferenceEvaluator(case.model).run(None, named_inputs(case))


def by_onnxruntime(case):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, named_inputs(case))


def leaves(names, values):
    for name, value in zip(names, values):
        if isinstance(value, list):
            yield from (("%s[%d]" % (name, k), np.asarray(v)) for k, v in enumerate(value))
        elif value is not None:
            yield name, np.asarray(value)


def collected(path, outputs):
    """Outputs read from an .npz file of `hlo run`."""
    z = np.load(path)
    values = []
    for k, out in enumerate(outputs):
        if "out%d" % k in z:
            values.append(z["out%d" % k])
        elif out.type.HasField("optional_type"):
            values.append(None)
        else:
            count = sum(re.fullmatch(r"out%d\[\d+\]" % k, f) is not None for f in z.files)
            values.append([z["out%d[%d]" % (k, e)] for e in range(count)])
    return values


def by_hlo(hlo, directory, case):
    arrays = dict(leaves([i.name for i in case.model.graph.input], case.inputs))
    np.savez(directory + "/in.npz", **arrays)
    run = subprocess.run([hlo, "run", directory + "/model.onnx", "--inputs=" + directory + "/in.npz",
                          "--output=" + directory + "/out.npz"], capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError("status %d: %s" % (run.returncode, run.stderr.strip()[:400]))
    return collected(directory + "/out.npz", case.model.graph.output)


def import_text(hlo, directory, case):
    with_inputs = ["--inputs=" + directory + "/in.npz"]
    run = subprocess.run([hlo, "import", directory + "/model.onnx", "-o", directory + "/model.hlo"] + with_inputs,
                         capture_output=True, text=True, timeout=120)
    if run.returncode:
        raise RuntimeError("status %d: %s" % (run.returncode, run.stderr.strip()[:400]))


def save_value(path, value, type_proto):
    if type_proto.HasField("optional_type"):
        proto = numpy_helper.from_optional(value)
    elif type_proto.HasField("sequence_type"):
        proto = numpy_helper.from_list(value, dtype=None if value else onnx.SequenceProto.TENSOR)
    else:
        proto = numpy_helper.from_array(np.asarray(value))
    with open(path, "wb") as f:
        f.write(proto.SerializeToString())


def save(directory, case):
    os.makedirs(directory + "/test_data_set_0")
    onnx.save(case.model, directory + "/model.onnx")
    for kind, ports, values in (("input", case.model.graph.input, case.inputs),
                                ("output", case.model.graph.output, case.expected)):
        for k, (port, value) in enumerate(zip(ports, values)):
            save_value("%s/test_data_set_0/%s_%d.pb" % (directory, kind, k), value, port.type)


class Table:
    def __init__(self):
        self.counts, self.reports = collections.Counter(), []

    def put(self, case, who, ok, why=""):
        self.counts[case.kind, who, ok] += 1
        if ok is False:
            self.reports.append("%s: %s: %s" % (case.name, who, why))

    def trial(self, case, who, run, failed):
        """Counts a run that returns values, or `failed`."""
        try:
            actual = [v if v is None else list(map(np.asarray, v)) if isinstance(v, list) else np.asarray(v) for v in run()]
        except Exception as e:
            self.put(case, who, failed, str(e)[:500])
            return
        for out, a, e in zip(case.model.graph.output, actual, case.expected):
            if not same(a, e):
                self.put(case, who, False, "%s is %s, expected %s" % (out.name, show(a), show(e)))
                return
        self.put(case, who, True)


def gather(o):
    cases = list(corpus(o.corpus)) if o.corpus else []
    cases += list(worked_example()) + list(node_tests())
    for number in range(o.random):
        cases.append(random_case(random.Random(o.seed * 1000003 + number), number))
    return [c for c in cases if o.only in c.name]


def expected_of(case, table):
    """The case with its expected outputs; None if the model is malformed."""
    try:
        onnx.checker.check_model(case.model, full_check=False)
    except Exception as e:
        table.put(case, "onnx.checker", False, str(e)[:300])
        return None
    table.put(case, "onnx.checker", True)
    if case.expected is None:
        case = case._replace(expected=evaluate(case.model.graph, named_inputs(case), case.model.opset_import[0].version))
    return case


def check_texts(o, cases, table):
    files = {o.work + "/" + c.name + "/model.hlo": c for c in cases if os.path.exists(o.work + "/" + c.name + "/model.hlo")}
    run = subprocess.run(["python3", o.oracle, "check"] + list(files), capture_output=True, text=True)
    for file, case in files.items():
        line = next((l for l in run.stdout.splitlines() if file in l), "no verdict: " + run.stderr[-300:])
        table.put(case, "XLA's parser", " accept" in line or line.endswith("accepted"), line[:400])


def check_data_files(o, cases, table):
    run = subprocess.run([o.hlo, "test", "--tap", o.work], capture_output=True, text=True)
    for case in cases:
        line = next((l for l in run.stdout.splitlines() if "/%s/test_data_set_0" % case.name in l), "")
        table.put(case, "hlo test", line.startswith("ok"), line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hlo")
    parser.add_argument("--corpus")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle")
    parser.add_argument("--work", default="/tmp/onnx_diff")
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    shutil.rmtree(o.work, ignore_errors=True)
    table, cases = Table(), []
    for case in gather(o):
        case = expected_of(case, table)
        if case is None:
            continue
        directory = o.work + "/" + case.name
        save(directory, case)
        cases.append(case)
        table.trial(case, "onnx reference", lambda: by_reference(case), None)
        table.trial(case, "onnxruntime", lambda: by_onnxruntime(case), None)
        table.trial(case, "hlo run", lambda: by_hlo(o.hlo, directory, case), False)
        try:
            import_text(o.hlo, directory, case)
            table.put(case, "hlo import", True)
        except Exception as e:
            table.put(case, "hlo import", False, str(e)[:300])
    check_data_files(o, cases, table)
    if o.oracle:
        check_texts(o, cases, table)
    for line in table.reports:
        print(line)
    kinds = sorted({k for k, _, _ in table.counts})
    print("\n%-12s %-14s %6s %6s %8s" % ("models", "compared with", "agree", "differ", "skipped"))
    for kind in kinds:
        for who in ("onnx.checker", "onnx reference", "onnxruntime", "hlo run", "hlo test", "hlo import", "XLA's parser"):
            n = [table.counts[kind, who, ok] for ok in (True, False, None)]
            if any(n):
                print("%-12s %-14s %6d %6d %8d" % (kind, who, *n))


if __name__ == "__main__":
    main()
