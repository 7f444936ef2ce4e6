"""Build the site: sessions that run, numbers that are tied to runs, formulas as MathML, figures by the library.

| module | its one concept |
|---|---|
| `sessions` | the ```pycon fences of a page, run as doctests |
| `expressions` | a shown number, the expression that computes it, and whether they agree |
| `pages` | a page as a list of parts that are proven from top to bottom |
| `formulas` | LaTeX to MathML |
| `drawing` | small helpers that draw SVG and tables, and note which numbers were computed |
| `live` | figures that a reader changes: native controls over frames computed at build |
| `figures` | the figures themselves, by name |
| `references` | links from reference entries back to the sections that use them |
| `returns` | what a docstring says of its result, in one piece |
| `proofs` | the parts of every page, as tests |
| `frame` | what the theme leaves out: a content security policy, names for screen readers |
| `scan` | numbers in the built pages that nothing computed |
| `site` | one build, with the parts above put together |
| `hooks` | the events of MkDocs, handed to `site` |
"""
