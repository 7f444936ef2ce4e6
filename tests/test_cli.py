"""The program in a terminal, in a pipe, and in the hands of somebody who mistypes.

The outputs in tests/golden were read by a person. `python tests/test_cli.py` writes them anew: read what changed.
"""

import io
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attention_primer
from attention_primer import KVCache, MultiHeadAttention, attention_cost, crossover_length, kv_cache_bytes
from attention_primer.cli import main, verify
from attention_primer.cli.pages import agrees, numbers_in, parts
from attention_primer.cli.terminal import Table, Terminal, _key, columns
from attention_primer.heatmaps import _ANSI

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
PLAIN = {"COLUMNS": "80", "TERM": "xterm-256color"}

SENTENCE = '{"x": [[1, 0, 0], [2, 0, 0], [0, 1, 1], [0, 0, 1]], "tokens": ["The", "cat", "sat", "down"]}'
CROSS = """{"q": [[1, 1, 1, 1]], "k": [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]],
 "v": [[1, 0], [0, 1], [1, 1]], "queries": ["it"], "keys": ["animal", "tired", "street"]}"""
WIDE = json.dumps({"x": [[round(((i * 37 + c * 11) % 19 - 9) / 4, 2) for c in range(40)] for i in range(30)]})


class Case(NamedTuple):
    """What is typed, what comes in, and the exit code."""

    arguments: str
    given: str = ""
    code: int = 0
    environment: dict[str, str] = {}  # noqa: RUF012  # a tuple's default, never changed


CASES = {
    "example-it": Case("example it"),
    "example-it-step-in-a-pipe": Case("example it --step"),
    "example-sat": Case("example sat"),
    "example-sentence": Case("example sentence"),
    "example-sentence-no-mask": Case("example sentence --no-mask"),
    "example-two-looks": Case("example two-looks"),
    "example-two-looks-wet": Case("example two-looks --last-word wet"),
    "example-two-looks-wide-causal": Case("example two-looks --last-word wide --causal"),
    "example-two-looks-ascii-60": Case("example two-looks --ascii --columns 60"),
    "example-it-color": Case("example it --color always"),
    "cost-llama-3-8b": Case("cost --model llama-3-8b"),
    "cost-small": Case("cost --tokens 1,000 --width 64 --heads 4 --kv-heads 1"),
    "cache-one-head": Case("cache --tokens 10 --layers 1 --kv-heads 1 --head-width 64"),
    "cost-one-head": Case("cost --tokens 1000 --width 64"),
    "cost-json": Case("cost --model gpt-2-small --tokens 4608 --json"),
    "cache-llama-2-7b": Case("cache --model llama-2-7b --users 32"),
    "cache-llama-2-70b": Case("cache --model llama-2-70b"),
    "cache-changed": Case("cache --model llama-3-8b --heads 16 --bytes 1"),
    "cache-json": Case("cache --tokens 10 --layers 2 --kv-heads 1 --head-width 64 --json"),
    "attend-sentence": Case("attend --causal", SENTENCE),
    "attend-cross": Case("attend -", CROSS),
    "attend-wide": Case("attend", WIDE),
    "attend-ascii": Case("attend", SENTENCE.replace("cat", "café"), 0, {"LC_ALL": "C"}),
    "attend-json": Case("attend --json", "[[0, 0], [0, 0]]"),
    "wrong-json": Case("attend", "[[1, 2],\n [3, 4", 2),
    "wrong-ragged": Case("attend", "[[1, 2], [3]]", 2),
    "wrong-nan": Case("attend", '{"q": [[1]], "k": [[1], [NaN]], "v": [[1], [2]]}', 2),
    "wrong-infinity": Case("attend", "[[1, -Infinity]]", 2),
    "wrong-empty": Case("attend", " \n", 2),
    "wrong-missing": Case("attend", '{"q": [[1]], "k": [[1]]}', 2),
    "wrong-nothing": Case("attend", "{}", 2),
    "wrong-both": Case("attend", '{"x": [[1]], "q": [[1]]}', 2),
    "wrong-name": Case("attend", '{"x": [[1]], "maks": [[true]]}', 2),
    "wrong-mask": Case("attend", '{"x": [[1]], "mask": [[1]]}', 2),
    "wrong-label": Case("attend", '{"x": [[1]], "tokens": [1]}', 2),
    "wrong-labels": Case("attend", '{"x": [[1]], "tokens": ["a", "b"]}', 2),
    "wrong-hidden": Case("attend", '{"x": [[1]], "mask": [[false]]}', 2),
    "wrong-nested": Case("attend", "[" * 100_000, 2),
    "wrong-long-number": Case("attend", f"[[{'1' * 5000}]]", 2),
    "wrong-causal": Case("attend --causal", '{"q": [[1], [2]], "k": [[1]], "v": [[1]]}', 2),
    "wrong-file": Case("attend no-such-file.json", "", 2),
    "wrong-svg": Case("attend --svg no-such-folder/x.svg", "[[1]]", 2),
    "wrong-cost-missing": Case("cost --tokens 10", "", 2),
    "wrong-cost-heads": Case("cost --tokens 10 --width 10 --heads 3", "", 2),
    "wrong-cache-missing": Case("cache --tokens 10", "", 2),
    "wrong-cache-heads": Case("cache --model gpt-2-small --heads 5", "", 2),
    "wrong-count": Case("cost --tokens many", "", 2),
    "wrong-zero": Case("cost --tokens 0", "", 2),
    "wrong-model": Case("cache --model gpt-9", "", 2),
    "wrong-last-word": Case("example two-looks --last-word hungry", "", 2),
    "help": Case(""),
    "help-example": Case("example"),
    "help-two-looks": Case("example two-looks --help"),
    "help-cost": Case("cost --help"),
    "help-cache": Case("cache --help"),
    "help-attend": Case("attend --help"),
    "help-verify": Case("verify --help"),
}


def answered(case: Case, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run the program in this process; return its exit code and all that it wrote."""
    for name in ("NO_COLOR", "LC_ALL", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**PLAIN, **case.environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdin", io.StringIO(case.given))
    with redirect_stdout(io.StringIO()) as written, redirect_stderr(written):
        try:
            code = main(case.arguments.split())
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
    return code, written.getvalue()


@pytest.mark.parametrize("name", CASES)
def test_a_command_answers_as_in_its_golden_file(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, written = answered(CASES[name], monkeypatch)
    assert written == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert code == CASES[name].code


def test_every_golden_file_belongs_to_a_command() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_no_line_is_wider_than_asked_for(name: str) -> None:
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    widest = 60 if name.endswith("-60") else 80
    if not name.startswith("wrong-") and "json" not in name and "color" not in name:  # messages wrap where they like
        assert max(map(columns, text.splitlines())) <= widest


# Calculators.

shapes = st.tuples(
    st.integers(1, 10**6), st.integers(1, 128), st.integers(1, 8), st.integers(1, 16), st.integers(1, 99)
)


def read_json(arguments: list[str]) -> Any:
    with redirect_stdout(io.StringIO()) as written:
        assert main([*arguments, "--json"]) == 0
    return json.loads(written.getvalue())


@given(shapes)
def test_cost_counts_what_the_library_counts(shape: tuple[int, int, int, int, int]) -> None:
    tokens, head_width, group, kv_heads, layers = shape
    heads = group * kv_heads
    width = heads * head_width
    asked = f"cost --tokens {tokens} --width {width} --heads {heads} --kv-heads {kv_heads} --layers {layers}"
    told = read_json(asked.split())
    cost = attention_cost(tokens, width, n_heads=heads, n_kv_heads=kv_heads)
    assert told["flops"] == cost._asdict()
    assert told["all_layers_flops"] == sum(cost.total for _ in range(layers))
    assert told["crossover_tokens"] == crossover_length(width, n_heads=heads, n_kv_heads=kv_heads)


@given(shapes)
def test_beyond_the_crossover_attention_is_more_than_half(shape: tuple[int, int, int, int, int]) -> None:
    _, head_width, group, kv_heads, _ = shape
    asked = f"cost --width {group * kv_heads * head_width} --heads {group * kv_heads} --kv-heads {kv_heads}".split()
    crossover = read_json([*asked, "--tokens", "1"])["crossover_tokens"]
    shares = [read_json([*asked, "--tokens", str(n)])["attention_share"] for n in (crossover, crossover + 1)]
    assert shares[0] == 0.5 < shares[1]


@given(shapes, st.integers(1, 4), st.integers(1, 1000))
def test_cache_adds_up_over_heads_layers_tokens_and_users(
    shape: tuple[int, int, int, int, int], size: int, users: int
) -> None:
    tokens, head_width, _, kv_heads, layers = shape
    asked = f"cache --tokens {tokens} --kv-heads {kv_heads} --layers {layers} --head-width {head_width}"
    told = read_json([*asked.split(), "--bytes", str(size), "--users", str(users)])["bytes"]
    assert told["token_layer_head"] * kv_heads == told["token_layer"]
    assert told["token_layer"] * layers == told["token"]
    assert told["token"] * tokens == told["text"] == kv_cache_bytes(tokens, layers, kv_heads, head_width, size)
    assert told["text"] * users == told["all_users"]


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_cache_counts_the_numbers_that_a_real_cache_holds(tokens: int, kv_heads: int, group: int, d_head: int) -> None:
    heads = kv_heads * group
    cache = KVCache(MultiHeadAttention(heads * d_head, heads, kv_heads))
    cache.extend([[float(i + c) for c in range(heads * d_head)] for i in range(tokens)])
    asked = f"cache --tokens {tokens} --layers 1 --width {heads * d_head} --heads {heads} --kv-heads {kv_heads}"
    assert read_json([*asked.split(), "--bytes", "1"])["bytes"]["text"] == cache.n_numbers


@pytest.mark.parametrize(
    ("model", "kib"), [("llama-2-7b", 512), ("llama-3-8b", 128), ("llama-2-70b", 320), ("llama-3-70b", 320)]
)
def test_a_token_of_a_known_model_takes_what_its_paper_implies(model: str, kib: int) -> None:
    assert read_json(["cache", "--model", model])["bytes"]["token"] == kib * 1024


# Input and output.


def test_attend_writes_the_picture_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, picture = tmp_path / "mine.json", tmp_path / "weights.svg"
    mine.write_text("\ufeff" + SENTENCE, encoding="utf-8")  # some editors put a byte order mark first
    code, written = answered(Case(f"attend {mine} --svg {picture} --columns 1000"), monkeypatch)
    assert code == 0
    assert f"The picture is in {picture}." in " ".join(written.split())
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    code, written = answered(Case(f"attend {mine} --svg {picture} --json"), monkeypatch)
    assert len(json.loads(written)["weights"]) == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"[[1, 2],\n [3,, 4]]", "line 2, column 5"), (b"\xff\xfe", "UTF-8"), (None, "Is a directory")],
    ids=["broken", "binary", "folder"],
)
def test_a_file_that_can_t_be_read_is_named(
    content: bytes | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.json"
    if content is None:
        mine.mkdir()
    else:
        mine.write_bytes(content)
    code, written = answered(Case(f"attend {mine}"), monkeypatch)
    assert (code, written.startswith(f"attention-primer: {mine}: ")) == (2, True)
    assert told in written


def test_a_mask_and_causal_hide_together(monkeypatch: pytest.MonkeyPatch) -> None:
    given = json.dumps({"x": [[1], [2], [3]], "mask": [[True] * 3, [False, True, True], [True] * 3]})
    _, written = answered(Case("attend --causal --json", given), monkeypatch)
    assert [[w > 0 for w in row] for row in json.loads(written)["weights"]] == [
        [True, False, False],
        [False, True, False],
        [True, True, True],
    ]


def test_labels_can_t_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    _, written = answered(Case("attend", '{"x": [[1]], "tokens": ["a\\u001b[31mb\\n\\ud800"]}'), monkeypatch)
    assert "\x1b" not in written
    assert r"a\x1b[31mb\n\ud800" in written


def test_wide_letters_line_up(monkeypatch: pytest.MonkeyPatch) -> None:
    _, written = answered(Case("attend", '{"x": [[1, 2], [3, 4]], "tokens": ["猫猫", "dog"]}'), monkeypatch)
    output = written.split("\n\n")[1].splitlines()
    assert len({columns(line) for line in output}) == 1


def test_large_outputs_are_written_with_an_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    _, written = answered(Case("attend", '{"q": [[1]], "k": [[1]], "v": [[-1e200]]}'), monkeypatch)
    assert "−1.000e+200" in written


def test_nobody_reads_on_and_nobody_complains(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with redirect_stderr(io.StringIO()) as errors, os.fdopen(writer, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["example", "it"]) == 141
    assert errors.getvalue() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to write to")
def test_a_full_disk_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with redirect_stderr(io.StringIO()) as errors:
        out = open("/dev/full", "w")  # noqa: PTH123, SIM115  # closed below, where it fails again
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["example", "it"]) == 1
        with pytest.raises(OSError, match="No space left"):
            out.close()
    assert errors.getvalue() == "attention-primer: can't write: No space left on device\n"


def test_an_encoding_without_the_signs_gets_ascii() -> None:
    raw = io.BytesIO()
    terminal = Terminal.on(io.TextIOWrapper(raw, encoding="latin-1"), None, {})
    terminal.say("√4 → café")
    terminal.out.flush()
    assert raw.getvalue() == b"sqrt 4 (across) caf\\xe9\n"


def test_a_terminal_that_does_not_know_its_width_counts_as_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    class File(io.StringIO):
        def fileno(self) -> int:
            return 1

    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    assert Terminal.on(File(), None, {}).width == 80


def test_ctrl_c_leaves_with_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Terminal, "say", interrupted)
    with redirect_stderr(io.StringIO()) as errors:
        assert main(["example", "it"]) == 130
    assert errors.getvalue() == "\n"


def test_importing_the_library_does_not_import_the_program() -> None:
    code = "import attention_primer, sys; sys.exit(sum(name.endswith(('.cli', 'argparse')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603  # this very Python


def test_the_terminal_and_the_heatmap_use_the_same_colors() -> None:
    for role, color in _ANSI.items():
        assert Table([role], [], [role]).lines(color=True) == [f"\x1b[38;5;{color}m{role}\x1b[0m"]


# Verify.

PAGE = """The share is 1/4<!-- = share -->, too early.

```pycon
>>> share = 1 / 4
>>> share
0.5
>>> 1 / 0
```

```sh
>>> not a session
```

Now it is 0.25<!-- = share --> or 25 %<!-- = share -->, not 0.26<!-- = share -->; `2<!-- = 3 -->` is code.

??? question "Indented?"

    ~~~pycon
    >>> [share, "text"]
    [0.25, 'text']
    ~~~
"""


def test_a_page_is_checked_from_top_to_bottom_and_each_place_is_named() -> None:
    checked = verify.check_page("page.md", PAGE)
    assert checked.failures == [
        "page.md:1: share: NameError: name 'share' is not defined",
        "page.md:5: share\n  shown:\n    0.5\n  computed:\n    0.25",
        "page.md:7: 1 / 0\n  shown:\n    nothing\n  computed:\n    ZeroDivisionError: division by zero",
        "page.md:14: the text says 0.26, but share is 0.25",
    ]
    assert (checked.answers, checked.numbers, checked.needs) == (1, 3, "")


@pytest.mark.parametrize(
    ("before", "value", "holds"),
    [
        ("so 0.63", 0.6285, True),
        ("so 0.63", 0.6385, False),
        ("so −8.9", -8.93, True),
        ("so 338,350", 338350, True),
        ("so 338,351", 338350, False),
        ("so 12.5 %", 0.125, True),
        ("so 3/8", 0.375, True),
        ("so 3/8", 0.38, False),
        ("so 1e-16", 1.1e-16, True),
        ("so ∞", float("inf"), True),
        ("so [10, 2]", [10.0, 2.0], True),
        ("so [10, 2]", [10.0, 2.1], False),
        ("so [10, 2]", [10.0], False),
        ("so 2", [10.0, 2.0], False),
        ("so `[[1, 2], [3, 4]]`", [(1, 2), (3, 4)], True),
        ("so 2 and more", 2, False),
        ("so `animal`", "animal", True),
        ("so True", True, True),
        ("so nothing", 1, False),
        ("so []", [], True),
    ],
)
def test_prose_agrees_with_a_value_or_not(before: str, value: object, holds: bool) -> None:
    assert agrees(before, value) is holds


def test_an_empty_claim_fails() -> None:
    assert verify.check_page("page.md", "<!-- = 1 -->").failures == ["page.md:1: the text says nothing, but 1 is 1"]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=1, max_size=4))
def test_what_python_prints_is_read_back(values: list[float]) -> None:
    assert [float(number) for number in numbers_in(str(values))] == values
    assert agrees(f"the list {values}", values)


def test_a_page_of_the_site_has_the_parts_that_the_site_s_own_parser_finds() -> None:
    from machinery.pages import Session, TiedNumber
    from machinery.pages import parts as site_parts

    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        counts = [sum(isinstance(part, kind) for part in site_parts(text, page.name)) for kind in (Session, TiedNumber)]
        found = [type(part).__name__ for part in parts(text)]
        assert [found.count("Session"), found.count("Tied")] == counts, page.name


def test_a_page_that_needs_what_is_not_installed_is_skipped() -> None:
    checked = verify.check_page("page.md", "```pycon\n>>> 1\n1\n>>> import no_such_library\n```")
    assert (checked.answers, checked.failures, checked.needs) == (0, [], "no_such_library")


def test_what_fails_before_something_is_missing_still_fails() -> None:
    checked = verify.check_page("page.md", "```pycon\n>>> 1\n2\n>>> import no_such_library\n```")
    assert checked.failures == ["page.md:2: 1\n  shown:\n    2\n  computed:\n    1"]
    assert checked.needs == "no_such_library"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package with a page, and let verify take it for the library."""
    folder = tmp_path / "src" / "small"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Small."""\n')
    (folder / "sums.py").write_text('"""Add.\n\n>>> 1 + 1\n2\n"""\n')
    (tmp_path / "README.md").write_text("```pycon\n>>> 0.5 + 0.25\n0.75\n```\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(verify, "_modules", lambda: ["small", "small.sums"])
    monkeypatch.setattr(attention_primer, "__path__", [str(folder)])
    monkeypatch.setattr(verify, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(verify, "python_version", lambda: "3.x")
    for name in ("small", "small.sums", "small.broken", "small.needy"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


@pytest.mark.usefixtures("package")
def test_verify_counts_what_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(Case("verify"), monkeypatch) == (
        0,
        "module or page  answers  numbers    time\n"
        "small.sums            1        1  0.00 s\n"
        "README.md             1        1  0.00 s\n"
        "total                 2        2  0.00 s\n\n"
        "All 2 answers hold, and all 2 numbers, on Python 3.x.\n\n",
    )


def test_verify_prefers_the_pages_that_the_wheel_carries(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "pages").mkdir()
    (package / "pages" / "one.md").write_text("```pycon\n>>> 2 + 2\n5\n```\n")
    code, written = answered(Case("verify"), monkeypatch)
    assert code == 1
    assert "README.md" not in written
    assert "one.md:2: 2 + 2\n  shown:\n    5\n  computed:\n    4\n" in written
    assert written.endswith("1 did not hold on Python 3.x.\n\n")


def test_verify_skips_what_is_not_installed_and_says_so(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "needy.py").write_text(
        '"""Need."""\ntry:\n    import no_such\nexcept ImportError as e:\n    raise ImportError("no") from e\n'
    )
    monkeypatch.setattr(verify, "_modules", lambda: ["small.sums", "small.needy"])
    code, written = answered(Case("verify"), monkeypatch)
    assert code == 0
    assert "Skipped: small.needy, since no_such is not installed.\n" in written


def test_verify_fails_on_a_module_that_can_t_be_imported(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "broken.py").write_text("from math import no_such_function\n")
    monkeypatch.setattr(verify, "_modules", lambda: ["small.broken"])
    code, written = answered(Case("verify"), monkeypatch)
    assert code == 1
    assert "small.broken: ImportError: cannot import name 'no_such_function'" in written


def test_verify_knows_every_module_and_every_page() -> None:
    package = Path(attention_primer.__file__).parent
    files = {path.relative_to(package).with_suffix("").as_posix() for path in package.rglob("*.py")}
    names = {file.replace("/", ".").removesuffix(".__init__") for file in files - {"__init__"}}
    assert {name.removeprefix("attention_primer.") for name in verify._modules()} == {"attention_primer", *names}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert verify._pages(package) == pages


# A real terminal.

termios = pytest.importorskip("termios", reason="this system has no pseudo-terminals")


class Shown(NamedTuple):
    """What a terminal of some width showed, and the exit code."""

    text: str
    code: int


@pytest.fixture
def in_terminal() -> Callable[..., Shown]:
    """Run the program in a terminal of its own, and press keys when it asks for them."""
    import pty
    import select
    import struct
    from fcntl import ioctl

    def run(arguments: str, *, width: int = 80, press: str = "", **environment: str) -> Shown:
        master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        known = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH", "COVERAGE_PROCESS_START") if name in os.environ
        }
        known = {**known, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment}
        command = [sys.executable, "-m", "attention_primer", *arguments.split()]
        process = subprocess.Popen(  # noqa: S603  # this very Python
            command, stdin=slave, stdout=slave, stderr=slave, env=known, start_new_session=True, preexec_fn=own_terminal
        )
        os.close(slave)
        shown, keys = b"", list(press)
        while select.select([master], [], [], 20)[0]:
            try:
                new = os.read(master, 65536)
            except OSError:  # the other end has closed
                break
            shown += new
            if keys and shown.rstrip().endswith(b"q: leave") | shown.endswith(b"leave\x1b[0m"):
                os.write(master, keys.pop(0).encode())
        os.close(master)
        return Shown(shown.decode().replace("\r\n", "\n"), process.wait(20))

    def own_terminal() -> None:
        ioctl(0, termios.TIOCSCTTY, 0)

    return run


def test_a_terminal_gets_colors_and_a_pipe_does_not(in_terminal: Callable[..., Shown]) -> None:
    shown = in_terminal("example sentence")
    assert shown.code == 0
    assert "\x1b[38;5;98m" in shown.text
    assert "\x1b[1mStep 1 of 7" in shown.text


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_colors_can_be_refused(in_terminal: Callable[..., Shown], environment: dict[str, str]) -> None:
    assert "\x1b" not in in_terminal("example it", **environment).text


def test_lines_are_as_wide_as_the_terminal(in_terminal: Callable[..., Shown]) -> None:
    for width in (60, 80, 132):
        text = in_terminal("example two-looks", width=width, NO_COLOR="1").text
        assert 60 <= max(map(columns, text.splitlines())) <= min(width, 80)


def test_step_waits_for_a_key_between_the_steps(in_terminal: Callable[..., Shown]) -> None:
    shown = in_terminal("example it --step", press="x x")
    assert (shown.code, shown.text.count("q: leave"), "Step 4 of 4" in shown.text) == (0, 3, True)


def test_q_leaves_after_a_step(in_terminal: Callable[..., Shown]) -> None:
    shown = in_terminal("example it --step", press="xq", NO_COLOR="1")
    assert (shown.code, "Step 2 of 4" in shown.text, "Step 3 of 4" in shown.text) == (0, True, False)


def test_ctrl_c_leaves_a_walk_without_a_traceback(in_terminal: Callable[..., Shown]) -> None:
    shown = in_terminal("example it --step", press="\x03")
    assert (shown.code, "Traceback" in shown.text) == (130, False)


def test_verify_shows_how_far_it_is(in_terminal: Callable[..., Shown]) -> None:
    shown = in_terminal("verify", NO_COLOR="1")
    assert shown.code == 0, shown.text
    assert "\r1 of " in shown.text
    assert shown.text.rstrip().splitlines()[-1].startswith("All ")


def test_one_key_is_read_without_enter_and_the_terminal_is_put_back() -> None:
    import pty

    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as keys:
        before = termios.tcgetattr(keys)
        os.write(master, b"\x1b[A")
        assert _key(keys) == "\x1b[A"
        assert termios.tcgetattr(keys) == before
    os.close(master)


def test_where_no_single_key_can_be_read_a_line_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "termios", None)
    assert _key(io.StringIO("q\n")) == "q"


class Tty(io.StringIO):
    """Pretend to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_somebody_who_types_is_told_how_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Tty("[[1]]"))
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        assert main(["attend"]) == 0
    assert errors.getvalue() == "Type or paste JSON; Ctrl-D on a line of its own ends it.\n"


@pytest.mark.parametrize(("key", "steps", "color"), [(" ", 2, False), ("q", 1, True)])
def test_a_walk_goes_on_or_stops(key: str, steps: int, color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from attention_primer.cli import terminal as module
    from attention_primer.cli.examples import walk
    from attention_primer.cli.walks import Step

    monkeypatch.setattr(module, "_key", lambda _: key)
    out = Tty()
    walk([Step("One", []), Step("Two", [])], Terminal(out, color=color, keys=out), pause=True)
    assert out.getvalue().count("Step ") == steps


def test_a_progress_line_is_wiped_at_the_end() -> None:
    out = Tty()
    terminal = Terminal(out, width=20)
    terminal.progress("1 of 2: a name that is far too long for this line")
    terminal.progress("")
    assert out.getvalue() == "\r1 of 2: a name that\r" + " " * 19 + "\r"


# The wheel.


@pytest.mark.skipif(
    not os.environ.get("ATTENTION_PRIMER_CI"), reason="slow, and it needs a registry: ATTENTION_PRIMER_CI=1"
)
def test_a_wheel_in_an_empty_environment_verifies_itself(tmp_path: Path) -> None:
    def run(*command: str | Path) -> str:
        known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    venv.create(tmp_path / "empty", with_pip=True)
    [wheel] = tmp_path.glob("*.whl")
    run(tmp_path / "empty/bin/pip", "install", "--quiet", "--no-index", wheel)
    told = run(tmp_path / "empty/bin/attention-primer", "verify")
    assert "did not hold" not in told
    skipped = {"attention_primer.torch_twin", "pytorch.md"}
    assert set(re.findall(r"^Skipped: (\S+), since torch is", told, re.MULTILINE)) == skipped
    assert told.count("Skipped: ") == len(skipped)
    for page in ("README.md", "index.md"):
        assert f"\n{page} " in told
    [pages] = (tmp_path / "empty/lib").glob("python*/site-packages/attention_primer/pages")
    assert {page.name for page in pages.iterdir()} == {
        "README.md",
        *(page.name for page in (ROOT / "docs").glob("*.md")),
    }


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        for name, case in CASES.items():
            (GOLDEN / f"{name}.txt").write_text(answered(case, patch)[1], encoding="utf-8")
