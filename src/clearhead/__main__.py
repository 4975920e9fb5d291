"""`python -m clearhead`."""

from .cli import main

main()
