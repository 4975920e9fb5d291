"""The kernels. To add one: a file here, a line in this table, a green conformance test."""

from ..contract import Kernel
from .blocks import Blocks
from .explicit import Explicit
from .flex import Flex
from .sdpa import Sdpa
from .varlen import Varlen

KERNELS: dict[str, Kernel] = {
    kernel.name: kernel for kernel in (Varlen(), Flex(), Blocks(), Sdpa(), Explicit())
}
