"""The commands `cost` and `cache`: what attention takes, in FLOPs and in bytes.

| name | in one line |
|---|---|
| [`add_to`][attention_primer.cli.calculators.add_to] | add the commands to the program |
| [`costs`][attention_primer.cli.calculators.costs] | FLOPs by part, and where attention becomes the larger one |
| [`memory`][attention_primer.cli.calculators.memory] | bytes of a KV cache by token, layer, head and user |
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from attention_primer.cli.arguments import Add, checked, command, count, one_of
from attention_primer.cli.models import MODELS, listing
from attention_primer.cli.terminal import Refused, Table, Terminal
from attention_primer.costs import attention_cost, crossover_length, kv_cache_bytes

__all__ = ["add_to", "costs", "memory"]

_COST = f"""examples:
  attention-primer cost --model llama-3-8b
  attention-primer cost --model gpt-2-small --tokens 4608
  attention-primer cost --tokens 1,000 --width 64 --heads 4 --kv-heads 1
  attention-primer cost --model llama-2-70b --json

A multiply-add counts as two FLOPs. Softmax, norms and biases are left out, and
no mask saves anything. The feed-forward part is counted as two matrices, four
times as wide as the model; Llama's own are shaped otherwise.

models, with their longest text as first released:
{listing()}"""
_CACHE = f"""examples:
  attention-primer cache --model llama-2-7b --users 32
  attention-primer cache --model llama-3-8b --tokens 131,072
  attention-primer cache --tokens 4096 --layers 32 --kv-heads 8 --head-width 128
  attention-primer cache --model gpt-2-small --json

A GB is 1,000,000,000 bytes; a GiB is 1,073,741,824.

models, with their longest text as first released:
{listing()}"""


def add_to(add: Add) -> None:
    """Add the commands `cost` and `cache`.

    Args:
        add: The program's `add_parser`.

    Examples:
        Both know the same models:

        >>> commands = ArgumentParser().add_subparsers()
        >>> add_to(commands.add_parser)
        >>> list(commands.choices)
        ['cost', 'cache']
    """
    cost = command(add, "cost", _cost, "Count the FLOPs of a layer, and of all layers.", more=_COST)
    _shape_arguments(cost)
    cache = command(add, "cache", _cache, "Count the memory of a KV cache.", more=_CACHE)
    _shape_arguments(cache)
    cache.add_argument("--head-width", type=count, metavar="N", help="numbers a key; default: width / heads")
    cache.add_argument("--bytes", type=count, default=2, metavar="N", help="bytes a number; default: 2")
    cache.add_argument("--users", type=count, default=1, metavar="N", help="texts of this length; default: 1")


def costs(tokens: int, width: int, *, heads: int = 1, kv_heads: int | None = None, layers: int = 1) -> dict[str, Any]:
    """Count FLOPs, and compare attention with the rest.

    Args:
        tokens: How many tokens.
        width: The width of the model.
        heads: How many query heads.
        kv_heads: How many heads of keys and values. Defaults to heads.
        layers: How many layers.

    Returns:
        FLOPs of a layer by part and of all layers, the share of scores and mix, the crossover length, and how many
        weights a layer has.

    Raises:
        ShapeError: If the heads don't divide the width, or each other.

    Examples:
        At the crossover, attention is half of the work:

        >>> costs(4608, 768, heads=12)["attention_share"]
        0.5
    """
    cost = attention_cost(tokens, width, n_heads=heads, n_kv_heads=kv_heads)
    return {
        "flops": cost._asdict(),
        "all_layers_flops": layers * cost.total,
        "attention_share": (cost.scores + cost.mix) / cost.total,
        "crossover_tokens": crossover_length(width, n_heads=heads, n_kv_heads=kv_heads),
        "layer_weights": heads * tokens * tokens,
    }


def memory(
    tokens: int, layers: int, kv_heads: int, head_width: int, *, bytes_per_number: int = 2, users: int = 1
) -> dict[str, dict[str, int]]:
    """Count the bytes of a KV cache, from the smallest part to all users.

    Args:
        tokens: How many tokens a user's text has.
        layers: How many layers.
        kv_heads: How many heads of keys and values.
        head_width: How many numbers a key has.
        bytes_per_number: Bytes a number.
        users: How many texts are kept at once.

    Returns:
        Bytes of one token in one head of one layer, in one layer, in all layers; of a text; of all users' texts.

    Examples:
        Llama 2 7B keeps half a MiB for each token:

        >>> memory(4096, 32, 32, 128)["bytes"]["token"] // 1024
        512
    """
    text = kv_cache_bytes(tokens, layers, kv_heads, head_width, bytes_per_number)
    return {
        "bytes": {
            "token_layer_head": kv_cache_bytes(1, 1, 1, head_width, bytes_per_number),
            "token_layer": kv_cache_bytes(1, 1, kv_heads, head_width, bytes_per_number),
            "token": kv_cache_bytes(1, layers, kv_heads, head_width, bytes_per_number),
            "text": text,
            "all_users": text * users,
        }
    }


def _shape_arguments(parser: ArgumentParser) -> None:
    shape = parser.add_argument_group("shape", "What you give counts more than what the model says.")
    shape.add_argument("--model", type=one_of(*MODELS), metavar="NAME", help="a well-known shape, listed below")
    shape.add_argument("--tokens", type=count, metavar="N", help="length of the text")
    shape.add_argument("--width", type=count, metavar="N", help="width of the model, d_model")
    shape.add_argument("--heads", type=count, metavar="N", help="query heads")
    shape.add_argument(
        "--kv-heads", type=count, metavar="N", help="heads of keys and values; default: as many as heads"
    )
    shape.add_argument("--layers", type=count, metavar="N", help="layers")
    parser.add_argument("--json", action="store_true", help="write JSON instead")


def _shape(given: Namespace) -> dict[str, int]:
    """Complete what was given by what the model says."""
    typed = {name: getattr(given, name) for name in _NAMES if getattr(given, name, None) is not None}
    known = MODELS[given.model].shape() if given.model else {}
    if "heads" in typed:  # then the model's KV heads need not fit
        known.pop("kv_heads", None)
    shape = {**known, **typed}
    if "heads" in shape:
        shape.setdefault("kv_heads", shape["heads"])
    return shape


def _require(shape: Mapping[str, int], *names: str) -> None:
    missing = [f"--{name.replace('_', '-')}" for name in names if name not in shape]
    if missing:
        what = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        raise Refused(f"{what}: give {'it' if len(missing) == 1 else 'them'}, or a --model")


def _cost(given: Namespace, terminal: Terminal) -> int:
    shape = {"layers": 1, **_shape(given)}
    _require(shape, "tokens", "width")
    counted = checked(lambda: costs(**shape))
    if given.json:
        return _write_json(given, shape, counted, terminal)
    flops, heads, tokens = counted["flops"], shape.get("heads", 1), shape["tokens"]
    rows = [
        [part.replace("_", "-"), f"{n:,}", _percent(n / flops["total"]), _scaled(n * shape["layers"], 1000, _FLOPS)]
        for part, n in flops.items()
    ]
    twice = costs(**{**shape, "tokens": 2 * tokens})["flops"]["total"] / flops["total"]
    kept = 2 * counted["layer_weights"]
    terminal.show(_title(given, shape))
    terminal.show(Table(["part", "FLOPs a layer", "share", _plural(shape["layers"], "layer")], rows))
    terminal.show(
        f"Scores and mix are {_percent(counted['attention_share'])} of the work; beyond "
        f"{counted['crossover_tokens']:,} tokens they are the larger part. Twice the text costs {twice:.1f} times as "
        "much, and 4 times as much for scores and mix."
    )
    terminal.show(
        f"If a layer kept all its weights, {heads:,} × {tokens:,} × {tokens:,}, they would take "
        f"{_scaled(kept, 1000, _DECIMAL)} ({_scaled(kept, 1024, _BINARY)}) at 2 bytes each."
    )
    return 0


def _cache(given: Namespace, terminal: Terminal) -> int:
    shape = _shape(given)
    _require(shape, "tokens", "layers", "kv_heads")
    if "head_width" not in shape:
        _require(shape, "width", "heads")
        shape["head_width"] = _head_width(shape)
    parts = {name: shape[name] for name in ("tokens", "layers", "kv_heads", "head_width")}
    counted = checked(lambda: memory(**parts, bytes_per_number=given.bytes, users=given.users))
    if given.json:
        return _write_json(given, {**shape, "bytes_per_number": given.bytes, "users": given.users}, counted, terminal)
    layer = "1 token, 1 layer"
    names = [f"{layer}, 1 KV head", f"{layer}, {_plural(shape['kv_heads'], 'KV head')}"]
    names += [f"1 token, {_plural(shape['layers'], 'layer')}", _plural(shape["tokens"], "token")]
    names += [f"{names[-1]} for {_plural(given.users, 'user')}"] * (given.users > 1)
    sizes = dict(zip(names, counted["bytes"].values(), strict=False))
    rows = [[name, f"{n:,}", _scaled(n, 1000, _DECIMAL), _scaled(n, 1024, _BINARY)] for name, n in sizes.items()]
    terminal.show(_title(given, shape))
    terminal.show(Table(["keys and values of", "bytes", "decimal", "binary"], rows))
    saved = shape.get("heads", 0) // shape["kv_heads"]
    if saved > 1:
        terminal.show(f"With a KV head for each of the {shape['heads']:,} heads it would be {saved} times as much.")
    return 0


def _head_width(shape: Mapping[str, int]) -> int:
    width, heads = shape["width"], shape["heads"]
    if width % heads:
        raise Refused(
            f"--width is {width} and --heads is {heads}: the heads must divide the width, or give --head-width"
        )
    return width // heads


def _title(given: Namespace, shape: Mapping[str, int]) -> str:
    parts = [_plural(shape["tokens"], "token")]
    if "width" in shape:
        parts.append(f"width {shape['width']:,}")
    if "kv_heads" in shape:
        heads = _plural(shape["heads"], "head") + " on " if "heads" in shape else ""
        parts.append(heads + _plural(shape["kv_heads"], "KV head"))
    if "head_width" in shape:
        parts.append(f"{shape['head_width']:,} numbers each, {_plural(given.bytes, 'byte')} a number")
    parts.append(_plural(shape["layers"], "layer"))
    return f"{_name(given)}{', '.join(parts)}."


def _name(given: Namespace) -> str:
    if not given.model:
        return ""
    changed = any(getattr(given, name, None) is not None for name in _NAMES[1:])
    return f"{MODELS[given.model].title}{', changed' if changed else ''}: "


def _write_json(given: Namespace, shape: Mapping[str, int], counted: Mapping[str, Any], terminal: Terminal) -> int:
    model = {"model": MODELS[given.model].title} if given.model else {}
    terminal.say(json.dumps({"given": {**model, **shape}, **counted}, indent=2))
    return 0


def _plural(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def _scaled(n: int, step: int, units: Sequence[str]) -> str:
    """Write a number in the largest unit that it fills."""
    power = 0
    while power + 1 < len(units) and n >= step ** (power + 1):
        power += 1
    value = n / step**power
    return f"{value:.0f} {units[power]}" if n % step**power == 0 else f"{value:.2f} {units[power]}"


_NAMES = ("tokens", "width", "heads", "kv_heads", "layers", "head_width")
_FLOPS = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP")
_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
