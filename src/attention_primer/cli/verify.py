"""The command `verify`: run every example of the package and every session of the pages again.

| name | in one line |
|---|---|
| [`add_to`][attention_primer.cli.verify.add_to] | add the command to the program |
| [`check_module`][attention_primer.cli.verify.check_module] | run the examples of one module |
| [`check_page`][attention_primer.cli.verify.check_page] | run the sessions of one page, and compare its numbers |
| [`Checked`][attention_primer.cli.verify.Checked] | what came out |
"""

import math
import pkgutil
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from doctest import DocTest, DocTestFinder, DocTestParser, DocTestRunner, Example
from functools import partial
from importlib import import_module
from pathlib import Path
from platform import python_version
from textwrap import indent
from time import perf_counter
from traceback import format_exception_only
from typing import Any, NamedTuple

import attention_primer
from attention_primer.cli.arguments import Add, command
from attention_primer.cli.pages import Tied, agrees, numbers_in, parts
from attention_primer.cli.terminal import Table, Terminal

__all__ = ["Checked", "add_to", "check_module", "check_page"]

_EXAMPLES = """examples:
  attention-primer verify
  attention-primer verify > /dev/null && echo "All numbers hold."

An answer is what Python prints after >>>. A number is each number in such an
answer, and each number in the prose of a page that is tied to an expression.
The exit code is 1 if something does not hold."""


class Checked(NamedTuple):
    r"""Hold what a module or a page has proven.

    Attributes:
        name: What was checked.
        answers: How many answers hold.
        numbers: How many numbers stand in them, and hold in prose.
        failures: Texts that say what does not hold, and where.
        needs: What is not installed, if that is why it was skipped.
        seconds: How long it took.

    Examples:
        A page with one answer that holds, and one that does not:

        >>> checked = check_page("page.md", "```pycon\n>>> 1 + 1\n2\n>>> 2 + 2\n5\n```")
        >>> checked.answers, len(checked.failures)
        (1, 1)
        >>> print(checked.failures[0])
        page.md:4: 2 + 2
          shown:
            5
          computed:
            4
    """

    name: str
    answers: int
    numbers: int
    failures: list[str]
    needs: str = ""
    seconds: float = 0.0


def add_to(add: Add) -> None:
    """Add the command `verify`.

    Args:
        add: The program's `add_parser`.

    Examples:
        It needs no arguments:

        >>> from argparse import ArgumentParser
        >>> commands = ArgumentParser().add_subparsers()
        >>> add_to(commands.add_parser)
        >>> callable(commands.choices["verify"].parse_args([]).run)
        True
    """
    command(add, "verify", _verify, "Run every example and every session again.", more=_EXAMPLES)


def check_module(name: str) -> Checked:
    """Run the examples in the docstrings of a module.

    Args:
        name: The module's full name.

    Returns:
        What came out; if the module needs something that is not installed, the reason and what failed before.

    Examples:
        Masks hold:

        >>> checked = check_module("attention_primer.masks")
        >>> checked.answers > 0, checked.failures, checked.needs
        (True, [], '')
    """
    runner = _Runner()
    try:
        module = import_module(name)
        for test in DocTestFinder().find(module, name):
            runner.run(test, clear_globs=False)
    except ImportError as error:
        needs = _absent(error)
        return Checked(name, 0, 0, runner.found if needs else [f"{name}: {_told(error)}"], needs)
    return runner.checked(name)


def check_page(name: str, text: str) -> Checked:
    r"""Run the sessions of a page in one namespace, and compare the numbers in its prose.

    Args:
        name: What to call the page.
        text: The page, in Markdown.

    Returns:
        What came out; if a session needs something that is not installed, the reason and what failed before.

    Examples:
        Prose may use what the sessions have defined:

        >>> check_page("page.md", "```pycon\n>>> x = 2\n```\nIt is 2<!-- = x -->, not 3<!-- = x -->.").failures
        ['page.md:4: the text says 3, but x is 2']

        A page that needs what is not here is skipped, and says why:

        >>> check_page("page.md", "```pycon\n>>> import no_such_library\n```").needs
        'no_such_library'
    """
    runner, names = _Runner(), {"__name__": "__main__"}
    try:
        for part in parts(text):
            if isinstance(part, Tied):
                runner.compare(part, names, name)
                continue
            test = DocTest(DocTestParser().get_examples(part.source), {}, name, name, part.line - 1, part.source)
            test.globs = names  # not a copy, so that names flow down the page
            runner.run(test, clear_globs=False)
    except ImportError as error:
        return Checked(name, 0, 0, runner.found, _absent(error))
    return runner.checked(name)


class _Runner(DocTestRunner):
    """Count what holds, and collect what does not, instead of printing."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.answers, self.numbers, self.found = 0, 0, list[str]()

    def checked(self, name: str) -> Checked:
        return Checked(name, self.answers, self.numbers, self.found)

    def compare(self, tied: Tied, names: Mapping[str, Any], page: str) -> None:
        place = f"{page}:{tied.line}"
        try:
            value = eval(tied.expression, {**_KNOWN, **names})  # noqa: S307  # the page's own authors wrote it
        except Exception as error:
            self.found.append(f"{place}: {tied.expression}: {_told(error)}")
            return
        if agrees(tied.before, value):
            self.numbers += 1
        else:
            shown = tied.before.split()[-1] if tied.before.split() else "nothing"
            self.found.append(f"{place}: the text says {shown}, but {tied.expression} is {value!r}")

    def report_success(self, out: Any, test: DocTest, example: Example, got: str) -> None:  # noqa: ARG002
        self.answers += bool(example.want)
        self.numbers += len(numbers_in(example.want))

    def report_failure(self, out: Any, test: DocTest, example: Example, got: str) -> None:  # noqa: ARG002
        place = f"{test.filename}:{(test.lineno or 0) + example.lineno + 1}"
        shown, computed = (indent(text or "nothing", "    ").rstrip() for text in (example.want, got))
        self.found.append(f"{place}: {example.source.strip()}\n  shown:\n{shown}\n  computed:\n{computed}")

    def report_unexpected_exception(self, out: Any, test: DocTest, example: Example, exc_info: Any) -> None:
        if isinstance(exc_info[1], ImportError) and _absent(exc_info[1]):
            raise exc_info[1]
        self.report_failure(out, test, example, _told(exc_info[1]))


_KNOWN = {
    **{name: getattr(math, name) for name in dir(math) if not name.startswith("_")},
    **{name: getattr(attention_primer, name) for name in attention_primer.__all__},
    "attention_primer": attention_primer,
}


def _told(error: BaseException) -> str:
    return "".join(format_exception_only(error)).strip()


def _absent(error: BaseException) -> str:
    """Name what is not installed, if that is what an error, or its cause, is about."""
    for one in (error, error.__cause__):
        if isinstance(one, ModuleNotFoundError) and one.name and one.name.split(".")[0] != "attention_primer":
            return one.name
    return ""


def _modules() -> list[str]:
    found = pkgutil.walk_packages(attention_primer.__path__, "attention_primer.")
    return ["attention_primer", *(module.name for module in found)]


def _pages(package: Path) -> list[Path]:
    """List the pages that the wheel carries, or those of the clone that an editable install stands in."""
    carried = package / "pages"
    if carried.is_dir():
        return sorted(carried.glob("*.md"))
    clone = package.parents[1]
    return [page for page in (clone / "README.md", *sorted((clone / "docs").glob("*.md"))) if page.is_file()]


def _results(terminal: Terminal) -> Iterator[Checked]:
    tasks: list[tuple[str, Callable[[], Checked]]] = [(name, partial(check_module, name)) for name in _modules()]
    pages = _pages(Path(attention_primer.__path__[0]))
    tasks += [(page.name, partial(check_page, page.name, page.read_text(encoding="utf-8"))) for page in pages]
    for number, (name, check) in enumerate(tasks, 1):
        terminal.progress(f"{number} of {len(tasks)}: {name}")
        started = perf_counter()
        yield check()._replace(seconds=perf_counter() - started)
    terminal.progress("")


def _verify(_: Namespace, terminal: Terminal) -> int:
    results = list(_results(terminal))
    total = Checked(
        "total",
        sum(result.answers for result in results),
        sum(result.numbers for result in results),
        [failure for result in results for failure in result.failures],
        seconds=sum(result.seconds for result in results),
    )
    rows = [_row(result) for result in (*results, total) if result.answers or result.numbers or result.failures]
    terminal.show(Table(["module or page", "answers", "numbers", "time"], rows))
    for result in results:
        if result.needs:
            terminal.show(f"Skipped: {result.name}, since {result.needs} is not installed.")
    for failure in total.failures:
        terminal.say(f"{failure}\n")
    python = f"on Python {python_version()}"
    if total.failures:
        terminal.show(f"{len(total.failures)} did not hold {python}.")
        return 1
    terminal.show(f"All {total.answers:,} answers hold, and all {total.numbers:,} numbers, {python}.")
    return 0


def _row(result: Checked) -> list[str]:
    name = result.name.removeprefix("attention_primer.")
    return [name, f"{result.answers:,}", f"{result.numbers:,}", f"{result.seconds:.2f} s"]
