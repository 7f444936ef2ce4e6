"""Draw the picture that stands for the site where someone links to it: the worked example, as a PNG of plain cells."""

import struct
import zlib

from attention_primer import worked_example_sentence
from attention_primer.heatmaps import palette

__all__ = ["preview"]

_WIDTH, _HEIGHT = 1200, 630  # what previews are cut to
_CELL, _GAP = 130, 8
_GROUND = bytes.fromhex("1a1823")


def preview() -> bytes:
    r"""Paint the weights of "The cat sat down" on the dark ground of the site.

    Examples:
        >>> preview()[:8]
        b'\x89PNG\r\n\x1a\n'
    """
    weights = worked_example_sentence().weights
    side = _CELL + _GAP
    left, top = (_WIDTH - len(weights) * side + _GAP) // 2, (_HEIGHT - len(weights) * side + _GAP) // 2
    colors = palette(dark=True)
    rows = [_GROUND * _WIDTH] * top
    for row in weights:
        cells = (bytes.fromhex(colors[f"w{round(10 * share)}"][1:]) if share else _GROUND for share in row)
        line = _GROUND * left + (_GROUND * _GAP).join(cell * _CELL for cell in cells)
        rows += [line + _GROUND * (_WIDTH - len(line) // 3)] * _CELL + [_GROUND * _WIDTH] * _GAP
    return _png(rows + [_GROUND * _WIDTH] * (_HEIGHT - len(rows)))


def _png(rows: list[bytes]) -> bytes:
    header = struct.pack(">2I5B", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
