"""Adding a tile's columns up over the threads that hold them, in PTX, with few exchanges."""

from typing import no_type_check

import triton
import triton.language as tl


def _scatter(whole: bool) -> str:
    """PTX that adds 16 numbers a thread up over 8 threads, `l`, `l + 4` …, and adds that to memory.

    At each step a thread sends the half of its numbers that it will not end with to the thread
    `reach` lanes away, and gets the other half of that one's: 14 exchanges do the work of 48.
    Thread `l` ends with columns 2l and 2l + 1. Operands: `$0` to `$3` come back empty, `$4` to
    `$19` are the numbers, `$20` the address of the first column, `$36` how many columns there are
    (at least 64 where `whole`, and the address is then even).
    """
    lines = [".reg .pred up, one, two;", ".reg .b32 lane, bit;", ".reg .b64 place;"]
    lines.append("mov.u32 lane, %laneid;")
    numbers = [f"${4 + number}" for number in range(16)]
    for reach in (16, 8, 4):
        half = len(numbers) // 2
        lines += [f"and.b32 bit, lane, {reach};", "setp.ne.u32 up, bit, 0;"]
        for number in range(half):
            low, high, name = numbers[number], numbers[number + half], f"{reach}_{number}"
            lines += [
                f".reg .f32 sent_{name}, kept_{name}, got_{name};",
                f"selp.f32 sent_{name}, {low}, {high}, up;",
                f"selp.f32 kept_{name}, {high}, {low}, up;",
                f"shfl.sync.bfly.b32 got_{name}, sent_{name}, {reach}, 31, -1;",
                f"add.f32 kept_{name}, kept_{name}, got_{name};",
            ]
        numbers = [f"kept_{reach}_{number}" for number in range(half)]
    lines += ["mul.wide.u32 place, lane, 8;", "add.s64 place, place, $20;"]
    if whole:
        lines.append(f"red.relaxed.gpu.global.add.v2.f32 [place], {{{', '.join(numbers)}}};")
    else:
        lines += ["shl.b32 bit, lane, 1;", "setp.lt.s32 one, bit, $36;"]
        lines += ["add.s32 bit, bit, 1;", "setp.lt.s32 two, bit, $36;"]
        lines.append(f"@one red.relaxed.gpu.global.add.f32 [place], {numbers[0]};")
        lines.append(f"@two red.relaxed.gpu.global.add.f32 [place + 4], {numbers[1]};")
    lines += [f"mov.b32 ${number}, 0;" for number in range(4)]
    return "{" + "\n".join(lines) + "}"


SCATTER, SCATTER_SOME = tl.constexpr(_scatter(True)), tl.constexpr(_scatter(False))
OPERANDS = tl.constexpr(",".join(["=r"] * 4 + ["f"] * 16 + ["l"] * 16 + ["r"] * 16))


@triton.jit
@no_type_check
def scatter(place, given, left, EVEN: tl.constexpr):
    """Add [warps, 8 threads, 64 columns] to 64 places, of which `left` are there."""
    PTX: tl.constexpr = SCATTER if EVEN else SCATTER_SOME
    args = [given, tl.cast(place, tl.int64), left]
    tl.inline_asm_elementwise(PTX, OPERANDS, args, dtype=tl.int8, is_pure=False, pack=16)
