"""How much may be kept, and the sentence when it would be too much."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from ...foundation.errors import CannotError


class Budget:
    """Counts the bytes that are kept, each piece of memory once.

    Args:
        limit: How many there may be; half of what is free where the first are kept, when left out.
        savings: What can be done where that is too much.
    """

    def __init__(self, limit: int | None, savings: Sequence[str]) -> None:
        self.limit, self.savings, self.used = limit, savings, 0
        self.counted: set[int] = set()

    def take(self, site: str, tensors: Iterable[Tensor]) -> None:
        """Count these as kept, or refuse with the arithmetic."""
        by_place = {tensor.data_ptr(): tensor for tensor in tensors}
        new = [tensor for place, tensor in by_place.items() if place not in self.counted]
        if not new:
            return
        more = sum(tensor.numel() * tensor.element_size() for tensor in new)
        if self.limit is None:
            self.limit = free_bytes(new[0].device) // 2
        if self.used + more > self.limit:
            sizes = " + ".join(f"{list(tensor.shape)} × {tensor.element_size()}" for tensor in new)
            raise CannotError(
                f"Keeping {site} takes {in_words(more)} ({sizes} bytes), after "
                f"{in_words(self.used)} for what came before, and {in_words(self.limit)} may be "
                f"kept. You can {', '.join(self.savings[:-1])}, or {self.savings[-1]}."
            )
        self.used += more
        self.counted.update(tensor.data_ptr() for tensor in new)


def free_bytes(device: torch.device) -> int:
    """The memory that is free on a device now."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    told = Path("/proc/meminfo")
    if told.is_file():
        for line in told.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 8 * 2**30  # not told: what a small machine can spare


def in_words(count: int) -> str:
    """Bytes as people say them."""
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
