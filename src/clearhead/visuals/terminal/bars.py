"""Shares as bars, an eighth of a cell exact."""

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, cells: int, *, ascii_only: bool = False) -> str:
    """A bar of `cells` cells for a share of 1, padded to that length."""
    share = min(max(share, 0.0), 1.0)
    if ascii_only:
        return ("#" * round(share * cells)).ljust(cells)
    eighths = round(share * cells * 8)
    full, part = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[part] if part else "")).ljust(cells)
