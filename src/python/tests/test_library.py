"""The declarations for ctypes are those of the headers."""

import ctypes
import pathlib
import re
import subprocess

import pytest

from hlo import _library

SRC = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [SRC / "hlo.h", SRC / "hlo_advanced.h"]


def words(text):
    return " ".join(text.replace("struct ", "").split()).replace("( ", "(")


def code_of_headers():
    text = "\n".join(h.read_text() for h in HEADERS)
    return words(re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


def test_prototypes_are_those_of_the_headers():
    code = code_of_headers()
    declarations = _library.DECLARATIONS.strip().split(";")[:-1]
    assert len(declarations) > 60
    for declaration in declarations:
        assert words(declaration) + ";" in code


@pytest.mark.parametrize("name", sorted(_library.STRUCTS))
def test_structs_have_the_size_and_members_of_c(name, tmp_path):
    cls = _library.STRUCTS[name]
    spelled = "hlo_text" if name == "hlo_text" else f"struct {name}"
    offsets = "".join(
        f'printf("%zu ", offsetof({spelled}, {member}));' for member, *_ in cls._fields_
    )
    (tmp_path / "sizes.c").write_text(
        f'#include <stdio.h>\n#include "hlo_advanced.h"\n'
        f'int main(void) {{ {offsets} printf("%zu", sizeof({spelled})); }}\n'
    )
    program = tmp_path / "sizes"
    subprocess.run(["cc", "-I", SRC, "-o", program, tmp_path / "sizes.c"], check=True)
    found = [int(w) for w in subprocess.check_output([program]).split()]
    expected = [getattr(cls, member).offset for member, *_ in cls._fields_]
    assert found == expected + [ctypes.sizeof(cls)]
