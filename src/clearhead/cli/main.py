"""The command `clearhead`: its verbs, and what happens when something is wrong."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from .. import __version__
from ..foundation.errors import ClearheadError
from .convert import convert
from .demo import demo
from .explain import explain
from .generate import generate
from .info import info
from .new import new
from .score import score
from .see import see
from .terminal import never_fail_on_a_letter
from .tour import tour
from .train import train
from .translate import translate

app = typer.Typer(
    help="Transformers you can see through.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for verb in (demo, tour, train, new, score, translate, generate, see, explain, info, convert):
    app.command()(verb)


def tell_version(wanted: bool) -> bool:
    """Print the version and end, where that is wanted."""
    if wanted:
        print(f"clearhead {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def settings(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Transformers you can see through."""
    del debug, version  # `main` has taken the first out: it may stand anywhere


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A mistake ends with one sentence and exit code 2.

    Args:
        arguments: What was typed after `clearhead`; taken from the process when left out.
    """
    never_fail_on_a_letter(sys.stdout)
    typed, debug = without_debug(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=typed, prog_name="clearhead")
    except (ClearheadError, OSError) as error:
        if debug:
            raise
        Console(stderr=True, soft_wrap=True, highlight=False).print(
            f"clearhead: {sentence(error)}", markup=False
        )
        sys.exit(2)


def without_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, and whether it was there. Behind `--` all is plain text."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for word in arguments[:end] if word != "--debug"]
    return [*kept, *arguments[end:]], len(kept) < end


def sentence(error: ClearheadError | OSError) -> str:
    """What went wrong, in one sentence; of a file that cannot be used, which one it is."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} cannot be used: {error.strerror}."
    return str(error)
