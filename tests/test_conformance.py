"""The library gives what the test suite of ONNX expects of Attention, Softmax and LogSoftmax."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install -e '.[conformance]'")
if onnx.__version__ != "1.23.2":
    pytest.skip("onnx is not 1.23.2: pip install -e '.[conformance]'", allow_module_level=True)

import conformance_adapter as adapter  # noqa: E402  # only where onnx has brought NumPy
from conformance_adapter import np  # noqa: E402

node = pytest.importorskip("onnx.backend.test.case.node")
for operators in ("attention", "softmax", "logsoftmax"):
    pytest.importorskip(f"{node.__name__}.{operators}")  # which makes their cases

OPERATORS: dict[str, Callable[..., adapter.Outputs]] = {
    "Attention": adapter.run_attention,
    "Softmax": adapter.run_softmax,
    "LogSoftmax": adapter.run_log_softmax,
}
# An expanded case asks the same in smaller operators.
CASES = {case.name: case for case in node._NodeTestCases if "_expanded" not in case.name}
COUNTS = {"Attention": 93, "Softmax": 7, "LogSoftmax": 7}


def only_node(name: str) -> Any:
    (only,) = CASES[name].model.graph.node
    return only


def attributes(name: str) -> dict[str, Any]:
    return {a.name: onnx.helper.get_attribute_value(a) for a in only_node(name).attribute}


def arrays(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give the inputs and the expected outputs by name; one that is left out has an empty name and no array."""
    ((inputs, outputs),) = CASES[name].data_sets
    names = ([n for n in given if n] for given in (only_node(name).input, only_node(name).output))
    return tuple(dict(zip(n, x, strict=True)) for n, x in zip(names, (inputs, outputs), strict=True))  # type: ignore[return-value]  # two


def is_close(ours: Any, theirs: Any, rtol: float, atol: float) -> bool:
    """Judge as the suite does, after rounding to its type; NaN is close to nothing."""
    rtol = max(rtol, 2**-6) if theirs.dtype.name == "bfloat16" else rtol
    ours, theirs = (x.astype(theirs.dtype).astype(np.float64) for x in (ours, theirs))
    return ours.shape == theirs.shape and bool(np.allclose(ours, theirs, rtol=rtol, atol=atol))


@cache
def misses(name: str) -> list[str]:
    """Name the outputs that are not what the suite expects."""
    inputs, expected = arrays(name)
    ours = OPERATORS[only_node(name).op_type](**inputs, **attributes(name))
    case = CASES[name]
    return [output for output, theirs in expected.items() if not is_close(ours[output], theirs, case.rtol, case.atol)]


@pytest.mark.parametrize("name", CASES)
def test_every_output_of_a_case_is_what_the_suite_expects(name: str) -> None:
    assert misses(name) == []


def test_the_suite_is_whole_and_passed_by_every_operator() -> None:
    passed = Counter(only_node(name).op_type for name in CASES if not misses(name))
    print(", ".join(f"{operator} {passed[operator]}/{n}" for operator, n in COUNTS.items()))  # noqa: T201  # pytest -rP
    assert Counter(only_node(name).op_type for name in CASES) == passed == COUNTS


def test_the_suite_asks_for_caches_and_for_scores_in_all_four_modes() -> None:
    asked = [(output, attributes(name).get("qk_matmul_output_mode", 0)) for name in CASES for output in arrays(name)[1]]
    assert {mode for output, mode in asked if output == "qk_matmul_output"} == {0, 1, 2, 3}
    assert {output for output, _ in asked} == {"Y", "present_key", "present_value", "qk_matmul_output", "y"}
