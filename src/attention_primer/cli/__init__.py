"""The program `attention-primer`: the only place that prints, reads files and looks around.

| command | in one line |
|---|---|
| `example` | walk a worked example, step by step |
| `cost`, `cache` | calculate FLOPs and memory |
| `attend` | attend over a matrix of your own |
| `verify` | run every example and every session again |
"""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from attention_primer.cli import attend, calculators, examples, verify
from attention_primer.cli.terminal import Refused, Terminal

__all__ = ["main"]

_EXAMPLES = """examples:
  attention-primer example two-looks --step
  attention-primer cost --model llama-3-8b --tokens 131,072
  attention-primer cache --model llama-2-7b --users 32
  echo '[[1, 0], [0, 1]]' | attention-primer attend
  attention-primer verify

attention-primer COMMAND --help shows more of them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        argv: What stands behind the program's name. Defaults to what was typed.

    Returns:
        The exit code: 0 if all is well, 1 if a number does not hold or the output can't be written, 2 for bad use,
        130 after Ctrl-C, 141 if nobody reads on.

    Raises:
        SystemExit: After `--help`, and if the arguments are no good.

    Examples:
        What was typed decides:

        >>> from contextlib import redirect_stdout
        >>> from io import StringIO
        >>> with redirect_stdout(StringIO()) as written:
        ...     status = main(["cost", "--tokens", "1,000", "--width", "64", "--columns", "80"])
        >>> status, written.getvalue().splitlines()[0]
        (0, '1,000 tokens, width 64, 1 layer.')
    """
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except Refused as refusal:
        sys.stderr.write(f"attention-primer: {refusal}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    except BrokenPipeError:
        # Python flushes once more at its end; then there is nobody to complain to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        sys.stderr.write(f"attention-primer: can't write: {error.strerror}\n")
        return 1


def _run(argv: Sequence[str] | None) -> int:
    parser = ArgumentParser(
        "attention-primer",
        usage="attention-primer COMMAND [options]",
        description="Learn the attention mechanism from nothing, with every number proven.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=None, color="auto", ascii=False, columns=None)
    add = parser.add_subparsers(title="commands", metavar="COMMAND", prog="attention-primer").add_parser
    for part in (examples, calculators, attend, verify):
        part.add_to(add)
    given = parser.parse_args(argv)
    if given.run is None:
        parser.print_help()
        return 0
    display = {"color": given.color, "ascii": given.ascii, "width": given.columns}
    status: int = given.run(given, Terminal.on(sys.stdout, sys.stdin, os.environ, **display))
    return status
