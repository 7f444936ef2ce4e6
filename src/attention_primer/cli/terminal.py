"""Write for whoever reads: a terminal of some width, with colors or without, or a pipe.

| name | in one line |
|---|---|
| [`Terminal`][attention_primer.cli.terminal.Terminal] | where the commands write, and how |
| [`Table`][attention_primer.cli.terminal.Table] | rows of short texts that line up |
| [`Refused`][attention_primer.cli.terminal.Refused] | what ends a command that was used wrongly |
"""

import os
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple, TextIO
from unicodedata import combining, east_asian_width

from attention_primer.heatmaps import Heatmap

__all__ = ["Refused", "Table", "Terminal", "columns"]

_COLORS = {"query": 31, "key": 130, "value": 29, "weight": 98, "hidden": 243}  # legible on black and on white
_LEAST, _PROSE = 20, 80
_SIGNS = "√→·−×÷…█"
_PLAIN = str.maketrans(
    {
        "√": "sqrt ",
        "→": "(across)",
        "↓": "(down)",
        "·": ".",
        "−": "-",
        "×": "x",
        "÷": "/",
        "…": "~",
        "█": "#",
        "∞": "inf",
        "“": '"',
        "”": '"',
    }
)


class Refused(Exception):  # noqa: N818  # it is no error of the program
    """Tell that a command was used wrongly, in one line that a person can act on.

    Examples:
        The form is that of the library: what you gave, and what must hold:

        >>> raise Refused("--last-word is 'hungry': it must be one of tired, wide, wet")
        Traceback (most recent call last):
        attention_primer.cli.terminal.Refused: --last-word is 'hungry': it must be one of tired, wide, wet
    """


class Table(NamedTuple):
    r"""Hold short texts in rows and columns.

    Attributes:
        heads: (n,) what stands above each column.
        rows: Lists of up to n texts; what is missing stays blank.
        roles: (n,) a role for each column, such as "query", or nothing for plain ink.

    Examples:
        The first column starts at the left, the others end at the right:

        >>> print("\n".join(Table(["word", "score"], [["cat", "5"], ["down", "12"]]).lines()))
        word  score
        cat       5
        down     12
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    roles: Sequence[str] = ()

    def lines(self, *, color: bool = False) -> list[str]:
        r"""Line it up.

        Args:
            color: Whether to add ANSI colors.

        Returns:
            One line a row, without trailing spaces.

        Examples:
            Roles color their columns:

            >>> Table(["k"], [["1"]], ["key"]).lines(color=True)
            ['\x1b[38;5;130mk\x1b[0m', '\x1b[38;5;130m1\x1b[0m']
        """
        rows = [[*row, *[""] * (len(self.heads) - len(row))] for row in (self.heads, *self.rows)]
        rooms = [max(map(columns, column)) for column in zip(*rows, strict=True)]
        roles = [*self.roles, *[""] * (len(rooms) - len(self.roles))] if color else [""] * len(rooms)
        return [_line(row, rooms, roles) for row in rows]


class Terminal(NamedTuple):
    """Write lines, paragraphs, tables and pictures so that they suit the reader's end.

    Attributes:
        out: Where to write.
        width: How many columns a line may take.
        color: Whether to add ANSI colors.
        ascii: Whether to do without Unicode.
        keys: Where a key can be waited for; None where nobody sits.

    Examples:
        Without Unicode, signs become words:

        >>> import sys
        >>> Terminal(sys.stdout, ascii=True).say("÷ √4")
        / sqrt 4
    """

    out: TextIO
    width: int = 80
    color: bool = False
    ascii: bool = False
    keys: TextIO | None = None

    @classmethod
    def on(
        cls,
        out: TextIO,
        keys: TextIO | None,
        environment: Mapping[str, str],
        *,
        color: str = "auto",
        ascii: bool = False,  # noqa: A002  # its name everywhere
        width: int | None = None,
    ) -> "Terminal":
        """Find out how to write to a stream.

        Args:
            out: The stream.
            keys: Standard input, where a person may press keys.
            environment: `COLUMNS`, `NO_COLOR`, `TERM` and `LC_ALL` are heeded.
            color: "always", "never", or "auto": only on a terminal that has colors, and not with `NO_COLOR`.
            ascii: Whether to do without Unicode in any case.
            width: How wide, if not as wide as the terminal; a pipe counts as 80 columns.

        Returns:
            A Terminal.

        Examples:
            A pipe has no colors, and 80 columns unless told otherwise:

            >>> from io import StringIO
            >>> terminal = Terminal.on(StringIO(), None, {})
            >>> terminal.width, terminal.color, terminal.ascii
            (80, False, False)

            An explicit C locale means ASCII:

            >>> Terminal.on(StringIO(), None, {"LC_ALL": "C"}).ascii
            True
        """
        shows_color = out.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        both = out.isatty() and keys is not None and keys.isatty()
        return cls(
            out,
            max(width or _width(out, environment), _LEAST),
            shows_color if color == "auto" else color == "always",
            # Python writes UTF-8 even in the C locale, whose terminals need not read it.
            ascii or environment.get("LC_ALL") in ("C", "POSIX") or not _encodable(_SIGNS, out),
            keys if both else None,
        )

    def say(self, text: str = "", role: str = "") -> None:
        """Write one line, or several.

        Args:
            text: The lines.
            role: What they are, for their color: "query", "key", "value", "weight", "hidden" or "bold".

        Examples:
            Color needs a role and a terminal that wants it:

            >>> import sys
            >>> Terminal(sys.stdout).say("quiet", "hidden")
            quiet
        """
        text = self._legible(text)
        self.out.write((_painted(text, role) if self.color else text) + "\n")

    def paragraph(self, text: str) -> None:
        """Write prose in lines that are short enough to read.

        Args:
            text: One paragraph.

        Examples:
            A blank line follows:

            >>> import sys
            >>> Terminal(sys.stdout, width=20).paragraph("The animal was too tired.")
            The animal was too
            tired.
            <BLANKLINE>
        """
        for line in text.split("\n"):
            self.say("\n".join(wrap(line, min(self.width, _PROSE), break_on_hyphens=False)))
        self.say()

    def show(self, part: "str | Table | Heatmap") -> None:
        """Write a paragraph, a table or a picture, and a blank line.

        Args:
            part: What to write.

        Examples:
            Each kind is drawn in its own way:

            >>> import sys
            >>> Terminal(sys.stdout).show(Heatmap([[0.25, 0.75]], ["it"], ["cat", "dog"]))
            query: it, key ↓
            cat  0.25  ██████████
            dog  0.75  ██████████████████████████████
            <BLANKLINE>
        """
        if isinstance(part, str):
            return self.paragraph(part)
        if isinstance(part, Table):
            rows = [[self._legible(text) for text in row] for row in (part.heads, *part.rows)]
            lines = Table(rows[0], rows[1:], part.roles).lines(color=self.color)
        else:
            lines = part.text(width=self.width, color=self.color, ascii=self.ascii).split("\n")
        self.say("\n".join(lines))
        return self.say()

    def progress(self, text: str) -> None:
        """Say what is going on, in a line that the next one overwrites; a pipe is spared it.

        Args:
            text: What to say; nothing wipes the line.

        Examples:
            Nobody sits at a pipe:

            >>> import sys
            >>> Terminal(sys.stdout).progress("1 of 20")
        """
        if self.out.isatty():
            room = self.width - 1
            self.out.write("\r" + self._legible(text)[:room].ljust(room) + "\r" * (not text))
            self.out.flush()

    def wait(self) -> bool:
        """Wait for a key, if somebody sits there to press one.

        Returns:
            Whether to go on: False after q, Escape or the end of the input.

        Examples:
            A pipe goes straight on:

            >>> import sys
            >>> Terminal(sys.stdout).wait()
            True
        """
        if self.keys is None:
            return True
        prompt = "any key: go on, q: leave"
        self.out.write(_painted(prompt, "hidden" if self.color else ""))
        self.out.flush()
        try:
            return _key(self.keys) not in ("q", "Q", "\x1b", "\x04", "")
        finally:
            self.out.write("\r" + " " * len(prompt) + "\r")

    def _legible(self, text: str) -> str:
        if self.ascii:
            return text.translate(_PLAIN).encode("ascii", "backslashreplace").decode()
        encoding = self.out.encoding or "utf-8"
        return text.encode(encoding, "backslashreplace").decode(encoding)


def columns(text: str) -> int:
    """Count the columns that a text takes in a terminal.

    Args:
        text: One line.

    Returns:
        A number of columns: two for a wide letter, none for an accent that joins the letter before.

    Examples:
        Chinese letters are wide:

        >>> columns("cat"), columns("猫")
        (3, 2)
    """
    return sum(2 if east_asian_width(c) in "WF" else not combining(c) for c in text)


def _line(row: Sequence[str], rooms: Sequence[int], roles: Sequence[str]) -> str:
    gaps = [" " * (room - columns(text)) for text, room in zip(row, rooms, strict=True)]
    texts = [_painted(text, role) for text, role in zip(row, roles, strict=True)]
    rest = zip(gaps[1:], texts[1:], strict=True)
    return (texts[0] + gaps[0] + "".join(f"  {gap}{text}" for gap, text in rest)).rstrip()


def _painted(text: str, role: str) -> str:
    if not role or not text.strip():
        return text
    code = "1" if role == "bold" else f"38;5;{_COLORS[role]}"
    return f"\x1b[{code}m{text}\x1b[0m"


def _width(out: TextIO, environment: Mapping[str, str]) -> int:
    if environment.get("COLUMNS", "").isdecimal():
        return int(environment["COLUMNS"])
    try:
        return os.get_terminal_size(out.fileno()).columns or _PROSE
    except (OSError, ValueError):  # no terminal, or not even a file
        return _PROSE


def _encodable(text: str, out: TextIO) -> bool:
    try:
        text.encode(out.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _key(keys: TextIO) -> str:
    """Read one key without waiting for Enter, where the system can do that."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return keys.readline()[:1]
    before = termios.tcgetattr(keys)
    try:
        tty.setcbreak(keys, termios.TCSADRAIN)  # a key that was pressed early counts
        return os.read(keys.fileno(), 8).decode("latin-1")  # an arrow key sends three bytes
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)
