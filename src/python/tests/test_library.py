"""The structs for ctypes are those of the headers, as a C compiler sees them."""

import ctypes
import pathlib
import subprocess

from hlo import _library

SRC = pathlib.Path(__file__).resolve().parents[2]
STRUCTS = [_library.struct(name) for name in _library._MEMBERS]


def test_structs_have_the_size_and_members_of_c(tmp_path):
    lines, expected = [], []
    for cls in STRUCTS:
        spelled = "hlo_text" if cls.__name__ == "hlo_text" else f"struct {cls.__name__}"
        members = [member for member, _ in cls._fields_]
        lines += [f'printf("%zu ", offsetof({spelled}, {member}));' for member in members]
        lines.append(f'printf("%zu ", sizeof({spelled}));')
        expected += [*(getattr(cls, member).offset for member in members), ctypes.sizeof(cls)]
    (tmp_path / "sizes.c").write_text(
        '#include <stdio.h>\n#include "hlo_advanced.h"\nint main(void)\n{\n'
        + "\n".join(lines)
        + "\n}\n"
    )
    program = tmp_path / "sizes"
    subprocess.run(["cc", "-I", SRC, "-o", program, tmp_path / "sizes.c"], check=True)
    assert [int(w) for w in subprocess.check_output([program]).split()] == expected
    assert len(STRUCTS) > 40


def test_functions_have_the_types_of_their_prototypes():
    lib = _library.lib
    assert lib.hlo_text_free.argtypes == [ctypes.POINTER(_library.hlo_text)]
    assert lib.hlo_file_title.restype is ctypes.c_char_p
    assert lib.hlo_verify.argtypes == [ctypes.c_void_p, ctypes.c_void_p]
    assert lib.hlo_list_cost.restype is _library.hlo_cost
    assert lib.hlo_literal_tuple.argtypes == [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
