"""Build the parsers of the commands alike: help with examples, counts that are checked, options of the display.

| name | in one line |
|---|---|
| [`command`][attention_primer.cli.arguments.command] | one command with its help |
| [`group`][attention_primer.cli.arguments.group] | a command that has commands below it |
| [`count`][attention_primer.cli.arguments.count] | a whole number from 1 on |
| [`checked`][attention_primer.cli.arguments.checked] | what the library refuses is refused in one line |
| [`one_of`][attention_primer.cli.arguments.one_of] | one word of a few |
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import TypeVar

from attention_primer.checks import shown, size
from attention_primer.cli.terminal import Refused, Terminal

__all__ = ["Add", "Run", "checked", "command", "count", "group", "one_of"]

T = TypeVar("T")
Add = Callable[..., ArgumentParser]
Run = Callable[[Namespace, Terminal], int]


def command(add: Add, name: str, run: Run, says: str, *, more: str = "", usage: str = "") -> ArgumentParser:
    r"""Add a command.

    Args:
        add: The `add_parser` of the group that it belongs to.
        name: What it is called.
        run: What it does with the arguments and a terminal; returns an exit code.
        says: One line on what it does.
        more: What its help ends with: examples first.
        usage: What follows its name.

    Returns:
        Its parser, for further arguments.

    Examples:
        Every command knows how to be displayed:

        >>> add = ArgumentParser().add_subparsers().add_parser
        >>> parser = command(add, "it", lambda arguments, terminal: 0, "Share it.")
        >>> parser.parse_args(["--ascii"]).ascii
        True
    """
    parser = add(
        name,
        help=says,
        description=says,
        epilog=more,
        usage=f"attention-primer {usage or name} [options]",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    display = parser.add_argument_group("display")
    colors = one_of("auto", "always", "never")
    display.add_argument("--color", type=colors, default="auto", metavar="WHEN", help="auto, always or never")
    display.add_argument("--ascii", action="store_true", help="do without Unicode")
    display.add_argument("--columns", type=count, metavar="N", help="how wide; default: as the terminal, or 80")
    return parser


def group(add: Add, name: str, says: str, *, more: str = "") -> Add:
    """Add a command that only has commands below it; alone, it shows its help.

    Args:
        add: The `add_parser` of the group that it belongs to.
        name: What it is called.
        says: One line on what it does.
        more: What its help ends with: examples first.

    Returns:
        Its own `add_parser`.

    Examples:
        The help of a group names the commands in it:

        >>> commands = ArgumentParser().add_subparsers()
        >>> below = group(commands.add_parser, "example", "Walk an example.")
        >>> _ = below("it", help="Three scores.")
        >>> commands.choices["example"].format_help().split()[-4:]
        ['EXAMPLE-NAME', 'it', 'Three', 'scores.']
    """
    one = f"{name.upper()}-NAME"  # longer than any name below, so that argparse keeps each on one line with its help
    usage = f"attention-primer {name} {one} [options]"
    parser = add(
        name, help=says, description=says, epilog=more, usage=usage, formatter_class=RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=lambda arguments, terminal: _helped(parser))  # noqa: ARG005  # help needs neither
    below: Add = parser.add_subparsers(title="commands", metavar=one, prog=f"attention-primer {name}").add_parser
    return below


def checked(compute: Callable[[], T]) -> T:
    """Compute, and turn what the library refuses into a refusal of the command.

    Args:
        compute: What to compute from the user's own numbers.

    Returns:
        What it returns.

    Raises:
        Refused: If the numbers are no good.

    Examples:
        The message is the library's own:

        >>> from attention_primer import softmax
        >>> checked(lambda: softmax([]))
        Traceback (most recent call last):
        attention_primer.cli.terminal.Refused: scores is empty: it must hold at least one of the numbers
    """
    try:
        return compute()
    except (TypeError, ValueError) as error:
        raise Refused(str(error)) from None


def count(text: str) -> int:
    """Read a whole number that is at least 1.

    Args:
        text: What somebody typed.

    Returns:
        The number.

    Raises:
        ArgumentTypeError: If it is anything else.

    Examples:
        Digits may be grouped:

        >>> count("131,072")
        131072

        Words are no digits:

        >>> count("many")
        Traceback (most recent call last):
        argparse.ArgumentTypeError: 'many': it must be a whole number
    """
    try:
        return size(int(text.replace(",", "")), "it")
    except ValueError as error:
        rule = str(error).partition(": ")[2] if str(error).startswith("it is") else "it must be a whole number"
        raise ArgumentTypeError(f"{shown(text)}: {rule}") from None


def one_of(*words: str) -> Callable[[str], str]:
    """Make a reader of one word among a few.

    Args:
        words: What may be typed; upper and lower case are alike.

    Returns:
        A function from what was typed to one of the words.

    Examples:
        The message names what would be right:

        >>> one_of("tired", "wide", "wet")("hungry")
        Traceback (most recent call last):
        argparse.ArgumentTypeError: 'hungry': it must be one of tired, wide, wet
    """

    def read(text: str) -> str:
        if text.lower() not in words:
            raise ArgumentTypeError(f"{shown(text)}: it must be one of {', '.join(words)}")
        return text.lower()

    return read


def _helped(parser: ArgumentParser) -> int:
    parser.print_help()
    return 0
