"""Without torch there is a way to get it, and everything else works."""

import subprocess
import sys

WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"


def run(code: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", WITHOUT_TORCH + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # this very Python


def test_without_torch_the_twin_says_how_to_install_it() -> None:
    told = run("import attention_primer.torch_twin").stderr.splitlines()[-1]
    assert told == (
        "ImportError: attention_primer.torch_twin needs torch, which is not installed: "
        "pip install 'attention_primer[torch]', or in a clone: pip install -e '.[torch]'"
    )


def test_without_torch_the_library_works() -> None:
    assert run("import attention_primer; print(attention_primer.softmax([0, 0]))").stdout == "[0.5, 0.5]\n"
