"""Know the shapes of some well-known models.

| name | in one line |
|---|---|
| [`MODELS`][attention_primer.cli.models.MODELS] | the shapes by name |
| [`Model`][attention_primer.cli.models.Model] | what one of them holds |
| [`listing`][attention_primer.cli.models.listing] | all of them with their sources, as text |
"""

from typing import NamedTuple

from attention_primer.cli.terminal import Table

__all__ = ["MODELS", "Model", "listing"]


class Model(NamedTuple):
    """Hold what the calculators need to know of a model.

    Attributes:
        title: Its name.
        layers: How many layers.
        width: The width of the model, d_model.
        heads: How many query heads.
        kv_heads: How many heads of keys and values.
        context: How many tokens it reads at most, as first released.
        source: Who says so.

    Examples:
        The heads share the width:

        >>> MODELS["llama-3-8b"].width // MODELS["llama-3-8b"].heads
        128
    """

    title: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    context: int
    source: str

    def shape(self) -> dict[str, int]:
        """Give its sizes by the names of the arguments.

        Returns:
            tokens, width, heads, kv_heads, layers.

        Examples:
            The longest text that it reads is its number of tokens:

            >>> MODELS["gpt-2-small"].shape()
            {'tokens': 1024, 'width': 768, 'heads': 12, 'kv_heads': 12, 'layers': 12}
        """
        sizes = self.context, self.width, self.heads, self.kv_heads, self.layers
        return dict(zip(("tokens", "width", "heads", "kv_heads", "layers"), sizes, strict=True))


_GPT_2 = "Radford et al., 2019, Language Models are Unsupervised Multitask Learners"
_LLAMA_2 = "Touvron et al., 2023, Llama 2: Open Foundation and Fine-Tuned Chat Models"
_LLAMA_3 = "Grattafiori et al., 2024, The Llama 3 Herd of Models"

MODELS = {
    "gpt-2-small": Model("GPT-2 small", 12, 768, 12, 12, 1024, _GPT_2),
    "llama-2-7b": Model("Llama 2 7B", 32, 4096, 32, 32, 4096, _LLAMA_2),
    "llama-2-70b": Model("Llama 2 70B", 80, 8192, 64, 8, 4096, _LLAMA_2),
    "llama-3-8b": Model("Llama 3 8B", 32, 4096, 32, 8, 8192, _LLAMA_3),
    "llama-3-70b": Model("Llama 3 70B", 80, 8192, 64, 8, 8192, _LLAMA_3),
}


def listing() -> str:
    r"""List the models for a help text.

    Returns:
        A table of the shapes, then the sources.

    Examples:
        A line for each model:

        >>> print("\n".join(listing().split("\n")[:2]))
        name         layers  width  heads  KV heads  tokens
        gpt-2-small      12    768     12        12    1024
    """
    heads = ["name", "layers", "width", "heads", "KV heads", "tokens"]
    rows = [[name, *map(str, model[1:6])] for name, model in MODELS.items()]
    sources = dict.fromkeys(model.source for model in MODELS.values())
    return "\n".join([*Table(heads, rows).lines(), "", *sources])
