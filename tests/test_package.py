"""What holds for the package as a whole: what it imports, how it is written, what it promises to installers."""

import ast
import doctest
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from typing import Any, NamedTuple

import pytest

import attention_primer
from attention_primer import (
    Heatmap,
    KVCache,
    MultiHeadAttention,
    OnlineSoftmax,
    attention_gradients,
    causal_mask,
    checks,
    combine_masks,
    matmul,
    mix,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
    softmax,
    softmax_jacobian,
    sqrt_dk_experiment,
    transpose,
    worked_example_sat,
    worked_example_sentence,
    worked_example_two_looks,
)

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
HOME = SRC / "attention_primer"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef


class Module(NamedTuple):
    """A file of the library, read but not run."""

    name: str
    text: str
    tree: ast.Module

    @property
    def rung(self) -> str:
        return self.name.partition(".")[0]


@cache
def modules() -> dict[str, Module]:
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        name = ".".join(path.relative_to(HOME).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text("utf-8")
        found[name] = Module(name, text, ast.parse(text))
    return found


RUNGS = sorted({module.rung for module in modules().values()} - {"__init__", "__main__"})
# The one place that prints, reads files and starts processes.
TERMINAL = {"cli", "__main__"}


def run(code: str, *options: str) -> str:
    """Run a line in an interpreter that knows nothing but the standard library and this source."""
    command = [sys.executable, "-I", "-S", *options, "-c", f"import sys; sys.path.insert(0, {str(SRC)!r}); {code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # this very Python


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield str(node.module)


# Standard library only.


def test_everything_but_the_twin_runs_on_the_standard_library_alone() -> None:
    names = [f"attention_primer.{name}" for name in modules() if name not in ("__init__", "__main__", "torch_twin")]
    loaded = run(f"import importlib; [importlib.import_module(n) for n in {names}]; print(*sys.modules)").split()
    assert set(names) < set(loaded)
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"attention_primer", "__main__"}


def test_only_the_twin_names_another_package() -> None:
    known = {*sys.stdlib_module_names, "attention_primer"}
    packages = {(m.name, name.partition(".")[0]) for m in modules().values() for name in imported(m.tree)}
    assert {(module, package) for module, package in packages if package not in known} == {("torch_twin", "torch")}


def test_importing_costs_next_to_nothing(tmp_path: Path) -> None:
    # Time on the processor, the least of several runs, since a busy machine only ever adds. The first pair compiles.
    cache = f"-Xpycache_prefix={tmp_path}"
    pairs = [(seconds("pass", cache), seconds("import attention_primer", cache)) for _ in range(7)]
    bare, whole = (min(times) for times in zip(*pairs, strict=True))
    assert whole - bare < 0.06


def seconds(code: str, *options: str) -> float:
    before = getrusage(RUSAGE_CHILDREN)
    run(code, *options)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# No side effects.

TOUCHING = {"print", "open", "input", "breakpoint", "exec", "eval", "compile"}
OUTSIDE = {"argparse", "datetime", "io", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile", "time"}


@pytest.mark.parametrize("name", sorted(set(modules()) - {n for n in modules() if n.split(".")[0] in TERMINAL}))
def test_nothing_below_the_terminal_prints_reads_or_looks_at_the_clock(name: str) -> None:
    tree = modules()[name].tree
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & TOUCHING
    assert not {module.partition(".")[0] for module in imported(tree)} & OUTSIDE
    attributes = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert not {(module, name) for module, name in attributes if module == "sys"} - {("sys", "version_info")}


def test_randomness_comes_from_a_seed() -> None:
    for module in modules().values():
        if module.rung not in TERMINAL | {"torch_twin"}:
            names = [
                alias.name
                for node in ast.walk(module.tree)
                if isinstance(node, ast.ImportFrom) and node.module == "random"
                for alias in node.names
            ]
            assert set(names) <= {"Random"}, module.name
            assert "random" not in [
                alias.name for node in ast.walk(module.tree) if isinstance(node, ast.Import) for alias in node.names
            ]


# Names.


def test_no_module_hides_behind_a_public_name() -> None:
    assert not set(RUNGS) & set(attention_primer.__all__)


def test_the_list_of_names_is_sorted_and_complete() -> None:
    names = attention_primer.__all__
    assert names == sorted(set(names))
    brought = {
        alias.asname or alias.name
        for node in modules()["__init__"].tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(names) == brought


@pytest.mark.parametrize("name", sorted(modules()))
def test_every_module_lists_its_names_in_order(name: str) -> None:
    tree = modules()[name].tree
    listed = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and [t.id for t in node.targets if isinstance(t, ast.Name)] == ["__all__"]
    ]
    for names in listed:
        assert names == sorted(set(names))


def rows_of_the_map() -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    rung = ""
    for first, names in re.findall(r"^\| *(\w*) *\| (`.*) \|$", attention_primer.__doc__ or "", re.MULTILINE):
        rung = first or rung  # a row without a rung goes on with the one above
        rows.setdefault(rung, []).extend(re.findall(r"`(\w+)`", names))
    return rows


# What the map leaves out: the checks that people meet through their messages only, and what isn't imported along.
OFF_THE_MAP = {"checks", "cli", "grader", "torch_twin"}


def test_the_map_shows_every_rung_and_every_name_once() -> None:
    shown = rows_of_the_map()
    assert set(RUNGS) - OFF_THE_MAP <= set(shown)
    assert set(shown) <= set(RUNGS)
    names = [name for row in shown.values() for name in row]
    assert sorted(set(names)) == sorted(names)
    assert set(attention_primer.__all__) <= set(names)


def test_the_map_puts_every_name_on_its_rung() -> None:
    for rung, names in rows_of_the_map().items():
        for name in names:
            home = getattr(attention_primer, name, None)
            if home is not None and name != "ShapeError":  # it poses as the package's own, for tracebacks
                assert home.__module__.split(".")[1] == rung, name


def test_the_ladder_has_a_place_for_every_rung() -> None:
    [contract] = PROJECT["tool"]["importlinter"]["contracts"]
    ladder = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    assert set(RUNGS) <= {rung for layer in ladder for rung in layer}
    assert contract["exhaustive"] is True


def test_a_module_imports_from_lower_rungs_only() -> None:
    [contract] = PROJECT["tool"]["importlinter"]["contracts"]
    height = {rung: -i for i, layer in enumerate(contract["layers"]) for rung in re.findall(r"\w+", layer)}
    for module in modules().values():
        if module.rung in height:
            for name in imported(module.tree):
                package, _, rest = name.partition(".")
                rung = rest.partition(".")[0]
                if package == "attention_primer" and rung and rung != module.rung:
                    assert height[rung] < height[module.rung], (module.name, name)


# Docstrings.


def documented(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Documented]]:
    for node in body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, Function) and node.name == "__call__":
            yield prefix + node.name, node
        elif isinstance(node, ast.If):  # one of two definitions, by version
            yield from documented([*node.body, *node.orelse], prefix)


PUBLIC = {f"{module.name}.{name}": node for module in modules().values() for name, node in documented(module.tree.body)}
# A matrix is shown by its shape and one line; the class shows how it is used.
ATTRIBUTES = {f"heads.MultiHeadAttention.{W}" for W in ("W_q", "W_k", "W_v", "W_o")}
# Wrong on purpose; each says its mistake in a line.
IMPOSTORS = {name for name in PUBLIC if name.startswith("grader.impostors.")}
# Lent to other modules, and only on old Pythons.
WITHOUT_EXAMPLES = ATTRIBUTES | {"vectors.sumprod", "vectors.quick_sumprod"}


def doc(node: Documented | ast.Module) -> str:
    return ast.get_docstring(node) or ""


def is_property(node: Documented) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def calls_a_check(node: Function) -> bool:
    names = {n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return bool(names & (set(checks.__all__) - {"shown", "ShapeError", "in_range"}))


def sections(text: str) -> set[str]:
    return set(re.findall(r"^(Args|Attributes|Returns|Yields|Raises|Examples):$", text, re.MULTILINE))


TERMINAL_NAMES = {name for name in PUBLIC if name.split(".")[0] in {"cli", "__main__"}}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_says_what_it_does_and_shows_it(name: str) -> None:
    text = doc(PUBLIC[name])
    first = text.partition("\n")[0]
    assert first.endswith((".", "?"))
    assert "# doctest:" not in text
    if name not in WITHOUT_EXAMPLES | TERMINAL_NAMES | IMPOSTORS:
        assert "Examples" in sections(text)
        assert ">>> " in text.partition("Examples:")[2]


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {n for n in PUBLIC if isinstance(PUBLIC[n], ast.ClassDef)}))
def test_a_public_function_describes_its_arguments_its_result_and_its_errors(name: str) -> None:
    node = PUBLIC[name]
    assert isinstance(node, Function)
    if name in WITHOUT_EXAMPLES | TERMINAL_NAMES | IMPOSTORS:
        return
    has = sections(doc(node))
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = {a.arg for a in arguments} | ({node.args.vararg.arg} if node.args.vararg else set())
    described = doc(node).partition("Args:")[2].partition("\n\n")[0]
    for argument in names - {"self", "cls"}:
        assert re.search(rf"^ +{argument}: ", described, re.MULTILINE), argument
    if node.returns is not None and ast.unparse(node.returns) != "None" and not is_property(node):
        assert has & {"Returns", "Yields"}
    raises = any(isinstance(n, ast.Raise) for n in ast.walk(node))
    if raises or calls_a_check(node):
        assert "Raises" in has


def prose(text: str) -> str:
    """Leave out examples, formulas and code."""
    parts = [part for part in doctest.DocTestParser().parse(text) if isinstance(part, str)]
    return re.sub(r"\$\$.*?\$\$|\$.*?\$|`[^`]*`", "", "".join(parts), flags=re.DOTALL)


def test_the_prose_of_docstrings_has_no_decimals() -> None:
    # A number that a run could give belongs into an example, where a run does give it.
    nodes = {**PUBLIC, **{name: module.tree for name, module in modules().items()}}
    for name, node in nodes.items():
        assert not re.findall(r"(?<!Python )(?<!section )(?<![\w.])\d+\.\d+", prose(doc(node))), name


def test_no_line_is_longer_than_a_screen_is_wide() -> None:
    for module in modules().values():
        lines = [re.sub(r"  # (type: ignore|noqa).*", "", line) for line in module.text.splitlines()]
        assert max(map(len, lines), default=0) <= 120, module.name


# How much is said, and how much is done.


def lines_of(node: ast.stmt | ast.expr) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def share_of_prose(module: Module) -> float:
    """Measure the lines of docstrings among all lines, both without examples: these are tests."""
    said = shown = 0
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Module | Documented) and doc(node):
            said += lines_of(node.body[0])
            examples = doctest.DocTestParser().get_examples(doc(node))
            shown += sum(len((e.source + e.want).splitlines()) for e in examples)
    return (said - shown) / (len(module.text.splitlines()) - shown)


# Aimed at is 40 to 55 %; these stray for a reason.
LEAST, MOST = 0.35, 0.65
STRAYING = {
    "__init__": "a map and a list of names",
    "__main__": "a few lines that start the program",
    "grader": "not yet more than its docstring",
    "heatmaps": "most of it draws, in private",
    "grader.impostors": "wrong functions that explain themselves in a line each",
    "biases": "bodies of two lines, and a rule that programs read differently",
    "costs": "a formula each, and what is counted needs saying",
    "masks": "bodies of two lines, whose meaning needs saying",
    "vectors": "bodies of two lines, read by people who see a product of matrices for the first time",
}


@pytest.mark.parametrize("name", sorted(n for n in modules() if n.split(".")[0] != "cli"))
def test_a_module_explains_about_as_much_as_it_computes(name: str) -> None:
    share = share_of_prose(modules()[name])
    assert (LEAST <= share <= MOST) == (name not in STRAYING), f"{share:.0%}"


def bodies() -> dict[str, list[ast.stmt]]:
    found = {}
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, Function):
                found[f"{module.name}.{node.name}"] = node.body[bool(doc(node)) :]
    return found


# The whole of attention over tiles, and four kinds of layers made into one: cut, each would be harder to follow.
LONG = {"tiles.flash_attention", "torch_twin.to_torch", "cli.calculators._cache"}


def test_bodies_are_short() -> None:
    statements = {
        name: sum(isinstance(part, ast.stmt) for node in body for part in ast.walk(node))
        for name, body in bodies().items()
    }
    lengths = [(body[-1].end_lineno or 0) - body[0].lineno + 1 for body in bodies().values() if body]
    assert median(lengths) <= 8
    assert {name for name, count in statements.items() if count > 20} <= LONG


# Results.

X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
MASK = [[True, False, False], [True, True, False], [True, True, True]]


def rows_in(result: Any) -> Iterator[list[Any]]:
    if isinstance(result, list):
        yield result
    if isinstance(result, list | tuple):
        for part in result:
            yield from rows_in(part)


def online_output() -> list[float]:
    online = OnlineSoftmax()
    online.add(0, X[0])
    return online.output


def heads() -> MultiHeadAttention:
    return MultiHeadAttention.from_weights(X[:2], X[:2], X[:2], X[:2], 2, b_q=X[0], b_o=X[0])


def parts_of_heads() -> list[Any]:
    mha = heads()
    weights = [mha.W_q, mha.W_k, mha.W_v, mha.W_o, mha.b_q, mha.b_o]
    return [weights, mha.queries(X), mha.keys(X), mha.values(X), mha.attend(X, MASK), mha(X, MASK)]


RESULTS: dict[str, Callable[[], Any]] = {
    "causal_mask": lambda: causal_mask(3),
    "sliding_window_mask": lambda: sliding_window_mask(3, window=3),
    "padding_mask": lambda: padding_mask(MASK[0]),
    "combine_masks": lambda: combine_masks(MASK),
    "matmul": lambda: matmul(X, X[:2]),
    "transpose": lambda: transpose(X),
    "mix": lambda: [mix([1], X[:1])],
    "softmax": lambda: [softmax(X[0])],
    "softmax_jacobian": lambda: softmax_jacobian([0.5, 0.5]),
    "OnlineSoftmax": lambda: [online_output()],
    "scaled_dot_product_attention": lambda: scaled_dot_product_attention(X, X, X, MASK, bias=[[0.0] * 3] * 3),
    "attention_gradients": lambda: attention_gradients(X, X, X, X, MASK),
    "MultiHeadAttention": parts_of_heads,
    "KVCache": lambda: KVCache(heads()).extend(X),
    "Heatmap": lambda: [[h.values, h.mask] for h in (Heatmap(X), Heatmap(MASK), Heatmap(MASK, mask=MASK))],
    "sqrt_dk_experiment": lambda: [sqrt_dk_experiment([2, 2], n_queries=1, n_groups=1)],
    "worked_example_sat": worked_example_sat,
    "worked_example_sentence": worked_example_sentence,
    "worked_example_sentence, unmasked": lambda: worked_example_sentence(causal=False),
    "worked_example_two_looks": worked_example_two_looks,
}


@pytest.mark.parametrize("name", RESULTS)
def test_no_two_rows_of_a_result_are_one_object_nor_the_caller_s(name: str) -> None:
    result, again = RESULTS[name](), RESULTS[name]()
    rows = list(rows_in(result))
    assert rows
    assert len({id(row) for row in rows}) == len(rows)
    # Nor does a second call hand out what the first one did, or what the caller handed in.
    others = [*rows_in(again), *rows_in(X), *rows_in(MASK)]
    assert not {id(row) for row in rows} & {id(row) for row in others}


# What installers see.


def test_the_package_carries_its_types() -> None:
    assert (HOME / "py.typed").read_bytes() == b""
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]


def test_the_library_asks_for_nothing_and_the_extras_for_exact_versions() -> None:
    assert PROJECT["project"]["dependencies"] == []
    extras = PROJECT["project"]["optional-dependencies"]
    assert {"test", "docs", "dev", "torch", "conformance"} <= set(extras)
    loose = {wanted for extra in extras.values() for wanted in extra if not re.fullmatch(r"[\w\[\]-]+==[\d.]+", wanted)}
    assert loose == {"numpy"}


def test_the_version_says_the_same_to_installers_and_to_python() -> None:
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert PROJECT["tool"]["ruff"]["target-version"] == "py311"


COMMANDS = """\
python3 -m venv .venv && .venv/bin/pip install -q -e '.[docs]' && .venv/bin/mkdocs serve
python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/pytest
"""


def test_the_readme_is_short_and_gives_both_commands_on_its_first_screen() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 100
    first_screen = lines[:30]
    for command in COMMANDS.splitlines():
        assert first_screen.count(command) == 1
