"""The archives of this folder, made again: `python examples/torch/make.py`, which needs PyTorch.

Each is what `torch.export.save` writes of a module in this folder, but for the folder that PyTorch
is in: places are relative.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch.export import Dim

HERE = Path(__file__).parent


def module(file: str, name: str) -> Any:
    """A class of a file in this folder."""
    found: dict[str, Any] = {"__name__": Path(file).stem}
    exec(compile(Path(file).read_text(), file, "exec"), found)
    torch.manual_seed(0)
    return found[name]().eval()


def save(program: Any, name: str) -> None:
    whole = io.BytesIO()
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as given, zipfile.ZipFile(name, "w") as made:
        for entry in given.infolist():
            data = given.read(entry)
            if entry.filename.endswith(".json"):
                data = re.sub(rb"/[^\"\s]*(?=site-packages/)", b"", data)
            path = f"{Path(name).stem}/{entry.filename.partition('/')[2]}"
            made.writestr(zipfile.ZipInfo(path), data)


def main() -> None:
    os.chdir(HERE)
    ids = torch.randint(50, (2, 7))
    sizes = {"ids": {0: Dim("batch"), 1: Dim("seq")}}
    encoder = torch.export.export(module("encoder.py", "Encoder"), (ids,), dynamic_shapes=sizes)
    save(encoder, "encoder.pt2")
    image = torch.rand(4, 3, 8, 8)
    classifier = torch.export.export(module("classifier.py", "Classifier"), (image,))
    save(classifier, "classifier.pt2")
    masked, x = module("masked.py", "Masked"), torch.randn(2, 16, 8)
    save(torch.export.export(masked, (x,)), "masked.pt2")
    sizes = {"x": {0: Dim.AUTO, 1: Dim.AUTO}}
    save(torch.export.export(masked, (x.clone(),), dynamic_shapes=sizes), "masked_auto.pt2")


if __name__ == "__main__":
    main()
