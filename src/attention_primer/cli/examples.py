"""The command `example`: walk a worked example in the terminal.

| name | in one line |
|---|---|
| [`add_to`][attention_primer.cli.examples.add_to] | add the command to the program |
| [`walk`][attention_primer.cli.examples.walk] | write the steps, one after another |
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from attention_primer.cli.arguments import Add, command, group, one_of
from attention_primer.cli.terminal import Terminal
from attention_primer.cli.walks import Step, walk_it, walk_sat, walk_sentence, walk_two_looks

__all__ = ["add_to", "walk"]

_EXAMPLES = """examples:
  attention-primer example it
  attention-primer example two-looks --last-word wide --causal
  attention-primer example sentence --no-mask --step"""


def add_to(add: Add) -> None:
    """Add the command `example`, and below it one for each worked example.

    Args:
        add: The program's `add_parser`.

    Examples:
        Each of them walks:

        >>> commands = ArgumentParser().add_subparsers()
        >>> add_to(commands.add_parser)
        >>> list(commands.choices)
        ['example']
    """
    below = group(add, "example", "Walk a worked example, step by step.", more=_EXAMPLES)
    _walks(below, "it", lambda _: walk_it(), "Three scores become shares.")
    two_looks = _walks(
        below,
        "two-looks",
        lambda given: walk_two_looks(given.last_word, causal=given.causal),
        'How "it" finds the animal, or the street.',
    )
    word = one_of("tired", "wide", "wet")
    two_looks.add_argument("--last-word", type=word, default="tired", metavar="WORD", help="tired, wide or wet")
    two_looks.add_argument("--causal", action="store_true", help="hide the future")
    _walks(below, "sat", lambda _: walk_sat(), 'One row on a napkin: what "sat" reads.')
    sentence = _walks(
        below,
        "sentence",
        lambda given: walk_sentence(causal=not given.no_mask),
        '"The cat sat down" in exact numbers.',
    )
    sentence.add_argument("--no-mask", action="store_true", help="let everybody read the future, too")


def walk(steps: Sequence[Step], terminal: Terminal, *, pause: bool = False) -> int:
    """Write the steps of a walk, one after another.

    Args:
        steps: The walk.
        terminal: Where to write.
        pause: Whether to wait for a key between the steps, if somebody sits there.

    Returns:
        The exit code 0.

    Examples:
        Steps are counted:

        >>> import sys
        >>> walk([Step("One word asks", ["It is the query."])], Terminal(sys.stdout))
        Step 1 of 1: One word asks
        <BLANKLINE>
        It is the query.
        <BLANKLINE>
        0
    """
    for number, step in enumerate(steps, 1):
        terminal.say(f"Step {number} of {len(steps)}: {step.claim}", "bold")
        terminal.say()
        for part in step.parts:
            terminal.show(part)
        if pause and number < len(steps) and not terminal.wait():
            break
    return 0


def _walks(add: Add, name: str, steps: Callable[[Namespace], list[Step]], says: str) -> ArgumentParser:
    def run(given: Namespace, terminal: Terminal) -> int:
        return walk(steps(given), terminal, pause=given.step)

    parser = command(add, name, run, says, usage=f"example {name}")
    parser.add_argument("--step", action="store_true", help="wait for a key between the steps")
    return parser
