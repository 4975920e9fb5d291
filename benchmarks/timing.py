"""Timing two or more ways of doing the same thing, side by side in one run.

The ways take turns, so that a slow minute of the machine hits all alike. A sample during which
other processes used more than a little of the CPU is taken again. Report the median and the span.
"""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

DISTURBED = 0.15  # CPU seconds a second that others may use during a sample
TRIES = 4


@dataclass(frozen=True)
class Timed:
    """Seconds a call: the median of the samples, the fastest and the slowest, and how many."""

    median: float
    fastest: float
    slowest: float
    samples: int
    disturbed: int


def side_by_side(
    ways: Mapping[str, Callable[[], object]],
    *,
    device: str,
    rounds: int = 7,
    least: float = 0.2,
    warmups: int = 3,
) -> dict[str, Timed]:
    """Time every way `rounds` times in turn, each sample lasting at least `least` seconds."""
    repeats = {name: _repeats(way, device, least, warmups) for name, way in ways.items()}
    samples: dict[str, list[tuple[float, bool]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            samples[name].append(_sample(way, device, repeats[name]))
    return {name: _summary(found) for name, found in samples.items()}


def _repeats(way: Callable[[], object], device: str, least: float, warmups: int) -> int:
    for _ in range(warmups):
        way()  # warm up: compile, choose kernels, fault pages in
    once = _sample(way, device, 1)[0]
    return max(1, round(least / max(once, 1e-6)))


def _sample(way: Callable[[], object], device: str, repeats: int) -> tuple[float, bool]:
    for attempt in range(TRIES):
        seconds, others = _once(way, device, repeats)
        if others <= DISTURBED or device != "cpu":
            return seconds, False
        time.sleep(0.2 * (attempt + 1))
    return seconds, True


def _once(way: Callable[[], object], device: str, repeats: int) -> tuple[float, float]:
    busy, mine = _busy(), time.process_time()
    seconds = (_by_events if device == "cuda" else _by_clock)(way, repeats)
    others = max(0.0, (_busy() - busy) - (time.process_time() - mine)) / max(seconds, 1e-9)
    return seconds / repeats, others


def _by_clock(way: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        way()
    return time.perf_counter() - start


def _by_events(way: Callable[[], object], repeats: int) -> float:
    """Seconds on the GPU's own clock, from the first kernel's start to the last one's end."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(repeats):
        way()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last)) / 1e3


def _busy() -> float:
    """CPU seconds all processes have used since the machine started; 0 where that is not told."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, softirq = (int(field) for field in fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _summary(found: list[tuple[float, bool]]) -> Timed:
    clean = [seconds for seconds, disturbed in found if not disturbed] or [s for s, _ in found]
    disturbed = sum(was for _, was in found)
    return Timed(statistics.median(clean), min(clean), max(clean), len(clean), disturbed)


def machine(device: str) -> dict[str, str]:
    """What the numbers were measured on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].split(":")[1].strip() if names else cpu
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else cpu,
        "threads": str(torch.get_num_threads()),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def report(
    title: str, rows: list[dict[str, object]], *, device: str, json_file: Path | None
) -> None:
    """Print the rows as a table, and write them as JSON where asked."""
    console = Console(width=None if os.isatty(1) else 160)
    console.print(f"[bold]{title}[/bold]  {machine(device)}")
    table = Table(*rows[0].keys())
    for row in rows:
        table.add_row(
            *(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values())
        )
    console.print(table)
    if json_file is not None:
        document = {"title": title, "machine": machine(device), "rows": rows}
        json_file.write_text(json.dumps(document, indent=1, default=asdict) + "\n")
