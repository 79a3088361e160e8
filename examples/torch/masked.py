"""Causal attention whose mask was made for one length."""

import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, width: int = 8, heads: int = 2, length: int = 16) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, seq, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-1, -2)
        weights = (scores + self.mask).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(batch, seq, width)
