"""The examples of README.md."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

import numpy as np

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
INSTALLED = os.path.join(sysconfig.get_path("scripts"), "hlo")
PROGRAM = shutil.which(os.path.abspath(os.environ.get("HLO", INSTALLED)))


def first_example():
    names = {}
    exec(BLOCKS[0], names)
    return names


def test_first_example():
    assert np.allclose(first_example()["share"], 1 / 3)


def test_golden_test(tmp_path, monkeypatch):
    names = first_example()
    monkeypatch.chdir(tmp_path)
    pathlib.Path("share.hlo").write_text(names["module"].fmt())
    np.save("share.npy", names["module"].run(*names["module"].random_arguments(seed=1)))
    exec(BLOCKS[-1], names)
    names["test_share"]()


if PROGRAM:

    def test_golden_test_of_the_program(tmp_path):
        (tmp_path / "share.hlo").write_text(first_example()["module"].fmt())
        commands = re.findall(r"^    \$ hlo (.*)\n((?:    [^$].*\n)*)", README.read_text(), re.M)
        assert len(commands) == 2
        for command, output in commands:
            found = subprocess.check_output([PROGRAM, *command.split()], cwd=tmp_path, text=True)
            assert found.endswith(output.replace("    ", ""))


if importlib.util.find_spec("jax"):

    def test_examples_with_jax(tmp_path, capsys):
        names = first_example()
        for block in BLOCKS[1:4]:
            exec(compile(block, tmp_path / "example.py", "exec"), names)
        printed = capsys.readouterr().out
        assert "produces nan from operands without any" in printed
        assert re.search(r"^div\S* .*example.py:2 3$", printed, re.M)
