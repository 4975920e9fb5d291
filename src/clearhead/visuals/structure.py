"""A model's structure, drawn from its own config: what comes in, the blocks, what goes out."""

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.tree import Tree

Plain = Mapping[str, Any]  # an architecture as plain settings


def structure(title: str, architecture: Plain) -> Tree:
    """A tree that reads the way the data goes, top to bottom."""
    tree = Tree(
        f"[bold]{escape(title)}[/bold]  {architecture['kind'].replace('_', '-')}", guide_style="dim"
    )
    if architecture["kind"] != "encoder_decoder":
        _side(tree, architecture["kind"], architecture)
        return tree
    _side(tree.add("[bold]encoder[/bold]"), "encoder", architecture["encoder"])
    _side(tree.add("[bold]decoder[/bold]"), "decoder", architecture["decoder"], reads=True)
    return tree


def _side(tree: Tree, name: str, side: Plain, *, reads: bool = False) -> None:
    stack = side["stack"]
    layer = stack["layer"]
    tree.add(f"[cyan]in[/cyan]    {_input(side['input'], stack['width'])} → {stack['width']}")
    block = tree.add(f"[bold]{stack['layers']} ×[/bold] block, width {stack['width']}")
    norm = f"{_norm(layer['norm'])} {layer['norm_place']}"
    seen = "every token sees all" if name == "encoder" else "every token sees those before it"
    block.add(f"[green]{name}.*.self[/green]   {_heads(layer['heads'])}, {seen}{_window(stack)}")
    block.add(f"[dim]residual, {norm}[/dim]")
    if reads:
        block.add(f"[green]{name}.*.cross[/green]  {_heads(layer['heads'])}, reads the encoder")
        block.add(f"[dim]residual, {norm}[/dim]")
    block.add(f"[yellow]feed-forward[/yellow]  {_feed_forward(layer['feed_forward'])}")
    block.add(f"[dim]residual, {norm}[/dim]")
    if stack.get("positions"):
        tree.add(f"[cyan]positions in attention[/cyan]  {_positions(stack['positions'])}")
    if stack.get("final_norm"):
        tree.add(f"[dim]final {_norm(layer['norm'])}[/dim]")
    if side.get("output"):
        tree.add(f"[cyan]out[/cyan]   {_output(side['output'])}")


def _input(spec: Plain, width: int) -> str:
    if spec.get("kind") == "patches":
        return (
            f"picture {spec['picture']}², squares of {spec['patch']}², {spec['specials']} special"
        )
    if spec.get("kind") == "frames":
        return f"spectrogram of {spec['bands']} bands, at most {2 * spec['length']} frames"
    parts = [
        f"{spec['vocabulary']:,} words" + (f", {spec['width']} wide" * (spec["width"] != width))
    ]
    if spec.get("scale", 1.0) != 1.0:
        parts[0] += f", × {spec['scale']:.4g},"
    if spec.get("positions"):
        parts.append(f"+ {_positions(spec['positions'])} positions")
    if spec.get("types"):
        parts.append(f"+ {spec['types']} segment types")
    if spec.get("norm"):
        parts.append(f"→ {_norm(spec['norm'])}")
    return " ".join(parts)


def _positions(spec: Plain) -> str:
    match spec["kind"]:
        case "learned":
            return f"{spec['length']:,} learned"
        case "sinusoidal":
            return f"sinusoidal ({spec['layout']})"
        case "buckets":
            return f"{spec['count']} buckets up to {spec['furthest']}"
        case "alibi":
            return "falling with distance (ALiBi)"
    share = f" over {spec['share']:.0%} of each head" if spec["share"] != 1.0 else ""
    return f"rotary, base {spec['base']:,.0f}{share}{_scaling(spec.get('scaling'))}"


def _scaling(spec: Plain | None) -> str:
    if spec is None:
        return ""
    return f", {spec['kind']} scaling × {spec['factor']:g}"


def _heads(heads: Plain) -> str:
    shared = heads["key_value_heads"]
    groups = "" if shared == heads["heads"] else f" over {shared} key/value heads"
    normed = ", q and k normed" if heads.get("norm_epsilon") else ""
    return f"{heads['heads']} heads × {heads['head_width']}{groups}{normed}"


def _window(stack: Plain) -> str:
    if not stack.get("window"):
        return ""
    start = stack.get("window_from") or 0
    return f", the last {stack['window']:,} only" + (f" from layer {start}" if start else "")


def _feed_forward(spec: Plain) -> str:
    gate = "gated " if spec.get("gated") else ""
    return f"{spec['width']} wide, {gate}{spec['activation']}"


def _norm(spec: Plain) -> str:
    return "RMSNorm" if spec.get("form") == "rms" else "LayerNorm"


def _output(spec: Plain) -> str:
    if spec["kind"] == "labels":
        return f"{spec['count']} labels" + (" for each token" if spec.get("each") else "")
    if spec["kind"] == "taught":
        return f"{spec['count']} labels, from two tokens"
    if spec["kind"] == "pooled":
        return "one vector for the whole"
    tied = "the input's embeddings" if spec.get("tied", True) else "weights of its own"
    return f"scores of {spec['vocabulary']:,} words, by {tied}"
