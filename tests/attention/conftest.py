"""Attention over a few tokens: a second thread would only wait for the first."""

import torch

torch.set_num_threads(1)
