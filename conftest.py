"""Prove the pages and the README, and leave alone what needs the tools of the site where they are not installed."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest

from machinery.proofs import PAGES, ROOT

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

pytest_collect_file = PAGES.pytest()

HAS_SITE_TOOLS = all(map(find_spec, ("mkdocs", "material", "mkdocstrings", "math_core", "fontTools")))
_SITE_ONLY = ("fonts", "formulas", "hooks", "returns", "sections", "site")
collect_ignore = [] if HAS_SITE_TOOLS else [f"docs/machinery/{name}.py" for name in _SITE_ONLY]
if not find_spec("torch"):
    collect_ignore.append("src/attention_primer/torch_twin.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer a run in which nothing may be skipped, for machines that have every optional part."""
    parser.addoption("--no-skips", action="store_true", help="fail where a test would be skipped")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped test into a failure, if asked to."""
    report = yield
    return _unskipped(report, item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a skipped file into a failure, if asked to."""
    report = yield
    return _unskipped(report, collector.config)


def _unskipped(report: Report, config: pytest.Config) -> Report:
    if report.skipped and config.getoption("--no-skips"):
        report.outcome, report.longrepr = "failed", f"skipped under --no-skips: {report.longrepr}"
    return report


Build = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def build() -> Build:
    """Build a site into a folder, in a process of its own."""
    if not HAS_SITE_TOOLS:
        pytest.skip("the site's tools are not installed: pip install -e '.[docs]'")

    def run(to: Path, *, root: Path = ROOT, **environment: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(to)]
        given = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root / "src"), **environment}
        return subprocess.run(  # noqa: S603  # this very Python
            command, cwd=root, env=given, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture(scope="session")
def site(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once for all tests that read it."""
    to = tmp_path_factory.mktemp("site")
    result = build(to)
    if result.returncode:
        pytest.fail(result.stdout + result.stderr)
    return to
