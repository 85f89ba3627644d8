"""Parsing, verifying and printing modules; exceptions."""

import pathlib
import warnings

import pytest

import hlo

ADD = """HloModule sums
ENTRY main {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT sum = f32[3] add(x, y), metadata={op_name="jit(f)/add"}
}
"""


def test_text_and_files_are_told_apart(tmp_path):
    path = tmp_path / "add.hlo"
    path.write_text(ADD)
    for module in (hlo.Module(ADD), hlo.Module(str(path)), hlo.Module(path), hlo.Module.open(path)):
        assert module.name == "sums"
        assert [p.name for p in module.parameters] == ["x", "y"]
        assert module.parameters[0].dims == (3,) and module.parameters[0].dtype == "f32"


def test_printing():
    module = hlo.Module(ADD)
    assert str(module) == module.fmt() == hlo.Module(module.fmt()).fmt()
    assert "metadata" not in module.fmt("bare")
    with pytest.raises(ValueError, match="style"):
        module.fmt("pretty")


def test_instructions():
    *_, total = hlo.Module(ADD).instructions
    assert (total.name, total.op, total.operands) == ("sum", "add", ("x", "y"))
    assert (total.line, total.column, total.op_name) == (5, 3, "jit(f)/add")


def test_parse_errors_have_places():
    with pytest.raises(hlo.ParseError) as caught:
        hlo.Module.parse("ENTRY main {\n  ROOT y = f32[3] ad(x)\n}", name="mine.hlo")
    error = caught.value
    assert (error.file, error.line, error.column) == ("mine.hlo", 2, 19)
    assert error.id == "unknown-opcode" and error.message == "unknown opcode 'ad'"
    assert "^~" in str(error) and "did you mean 'add'" in str(error)


def test_verification_errors():
    module = hlo.Module("ENTRY main {\n  x = f32[3] parameter(0)\n  ROOT y = f32[4] negate(x)\n}")
    with pytest.raises(hlo.VerifyError) as caught:
        module.verify()
    assert caught.value.line == 3
    with pytest.raises(hlo.VerifyError):
        module.run([1, 2, 3])


def test_missing_files():
    with pytest.raises(hlo.FileError):
        hlo.Module("there-is-no-such-file.hlo")
    with pytest.raises(hlo.FileError):
        hlo.Module.open(pathlib.Path("there-is-no-such-file.hlo"))


def test_one_of_several_modules():
    one = "HloModule NAME\nENTRY e { ROOT x = s32[] constant(1) }\n"
    two = one.replace("NAME", "a") + one.replace("NAME", "b").replace("1", "2")
    assert hlo.Module(two, pick="b").run() == 2
    assert hlo.Module(two, pick=1).run() == 1
    with pytest.raises(hlo.FileError, match="pick one"):
        hlo.Module(two)


def test_warnings_are_those_of_python():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        callback = hlo.Module(
            "ENTRY main { x = f32[] parameter(0)\n"
            ' t = () custom-call(x), custom_call_target="xla_ffi_python_cpu_callback",'
            " custom_call_has_side_effect=true\n"
            " ROOT y = f32[] negate(x) }"
        )
        assert callback.run(1.0) == -1
    assert [w.category for w in caught] == [hlo.HloWarning]


def test_generated_arguments():
    module = hlo.Module(ADD)
    first, again = module.random_arguments(7), module.random_arguments(7)
    assert hlo.allclose(first, again, bits=True)
    assert hlo.allclose(module.fake_arguments("ones")[0], hlo.parse_value("f32[3] {1, 1, 1}"))
