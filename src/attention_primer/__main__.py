"""Run the program by `python -m attention_primer`."""

import sys

from attention_primer.cli import main

if __name__ == "__main__":
    sys.exit(main())
