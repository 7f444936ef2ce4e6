"""Name the bug in somebody's attention.

| module | holds |
|---|---|
| [`impostors`][attention_primer.grader.impostors] | attention with one classic bug each |
"""
