"""A network compiles whole, padding and all, and says the same."""

import subprocess
import sys

import pytest
from project import PACKAGE, ROOT

from clearhead.attention.kernels.flex import has_compiler

# In a process of its own: the types that tests watch at every door would be compiled as well.
SCRIPT = """
from dataclasses import replace
import tiny, torch

def shallow(side):
    return replace(side, stack=replace(side.stack, layers=1))

spec = tiny.TRANSLATORS["encoder-decoder, shared words"]
spec = replace(spec, encoder=shallow(spec.encoder), decoder=shallow(spec.decoder))
network = tiny.made(spec, dtype=torch.float32)
texts = (tiny.ids(1, 2, 7), tiny.ids(2, 2, 5))
padding = {
    "source_lengths_B": torch.tensor([7, 4]),
    "target_lengths_B": torch.tensor([3, 5]),
}
with torch.no_grad():
    wanted = network(*texts, **padding).logits_BTV
    found = torch.compile(network, fullgraph=True)(*texts, **padding).logits_BTV
# A few hundred roundings of 6e-8 on numbers of size 1.
torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-5)
assert wanted.abs().max() > 0.5
"""


@pytest.mark.skipif(not has_compiler(), reason="there is no compiler")
def test_a_compiled_translator_says_what_it_says_uncompiled():
    path = f"import sys; sys.path[:0] = {[str(PACKAGE.parent), str(ROOT / 'tests' / 'support')]}"
    command = [sys.executable, "-c", path + SCRIPT]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
