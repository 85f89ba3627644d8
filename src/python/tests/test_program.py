"""The package computes what the program `hlo` computes. HLO: the program (default: that of the
environment of Python, where pip installs it). CORPUS: a directory of dumps, optional."""

import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

import numpy as np
import pytest

import hlo

INSTALLED = os.path.join(sysconfig.get_path("scripts"), "hlo")
PROGRAM = shutil.which(os.path.abspath(os.environ.get("HLO", INSTALLED)))
TESTDATA = pathlib.Path(__file__).resolve().parents[3] / "testdata"
DUMPS = sorted(pathlib.Path(os.environ.get("CORPUS", "/none"), "jax").glob("*.new.before.hlo"))
SNAPSHOT = TESTDATA / "fuzz" / "stored.pb"
MODULES = {
    "products": "ENTRY e { x = f32[64,48] parameter(0)  y = f32[48,80] parameter(1)\n"
    " d = f32[64,80] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    " s = f32[64,80] tanh(d)  u = f32[80,64] transpose(s), dimensions={1,0}\n"
    " ROOT t = (f32[64,80], f32[80,64]) tuple(s, u) }",
    "sums": "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
    "ENTRY e { x = f32[100,1000] parameter(0)  z = f32[] constant(0)\n"
    " ROOT r = f32[100] reduce(x, z), dimensions={1}, to_apply=add }",
    "integers": "ENTRY e { x = s32[1000] parameter(0)  y = s32[1000] parameter(1)\n"
    " ROOT m = s32[1000] multiply(x, y) }",
}


def leaves(value):
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, tuple) else [value]


def run_program(path, directory, *arguments):
    """The leaves of the result of `hlo run`, in the form of .npy files."""
    out = directory / "out.npz"
    subprocess.run([PROGRAM, "run", path, *arguments, f"--output={out}"], check=True)
    with np.load(out) as arrays:
        return [arrays[name] for name in sorted(arrays, key=lambda n: int(re.sub(r"\D", "", n)))]


def equal(program, package):
    """Whether all bits are equal; types that NumPy lacks are raw bytes in files."""
    return len(program) == len(package) and all(
        a.shape == b.shape and a.tobytes() == np.ascontiguousarray(b).tobytes()
        for a, b in zip(program, package)
    )


if PROGRAM:

    @pytest.mark.parametrize("name", MODULES)
    def test_results_are_those_of_the_program(name, tmp_path):
        path = tmp_path / "module.hlo"
        path.write_text(MODULES[name])
        module = hlo.Module(path)
        result = module.run(*module.random_arguments(7))
        assert equal(run_program(path, tmp_path, "--random=7"), leaves(result))

    def test_an_example_in_files():
        module = hlo.Module(TESTDATA / "examples" / "transformer_step.hlo")
        with np.load(TESTDATA / "examples" / "transformer_step.in.npz") as arrays:
            arguments = [arrays[f"arg{k}"] for k in range(len(module.parameters))]
        with np.load(TESTDATA / "examples" / "transformer_step.out.npz") as arrays:
            expected = [arrays[f"out{k}"] for k in range(len(arrays))]
        assert hlo.allclose(tuple(leaves(module.run(*arguments))), tuple(expected), usual=True)

    def test_versions():
        version = subprocess.check_output([PROGRAM, "--version"], text=True)
        assert version.split()[1] == hlo.__version__


if PROGRAM and DUMPS:

    @pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.stem)
    def test_dumps_of_jax(path, tmp_path):
        inputs = path.with_name(path.name.replace(".before.hlo", ".npz"))
        module = hlo.Module(path)
        with np.load(inputs) as arrays:
            result = module.run(*(arrays[f"arg{k}"] for k in range(len(module.parameters))))
        assert equal(run_program(path, tmp_path, f"--inputs={inputs}"), leaves(result))


def test_snapshots():
    module = hlo.Module(SNAPSHOT)
    arguments, expected = module.stored_arguments(), module.stored_result()
    assert not any(a.size and a.flags.writeable for a in leaves((arguments, expected)))
    hlo.assert_allclose(module.run(*arguments), expected, usual=True)
    assert hlo.Module(SNAPSHOT.read_bytes()).fmt() == module.fmt()
    with pytest.raises(hlo.RunError, match="no stored arguments"):
        hlo.Module("ENTRY e { ROOT x = f32[] parameter(0) }").stored_arguments()
    with pytest.raises(hlo.RunError, match="no stored result"):
        hlo.Module("ENTRY e { ROOT x = f32[] parameter(0) }").stored_result()
