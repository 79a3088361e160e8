"""The example notebook: each cell is run, and shows what the file says that it shows.

`AXON_GOLDEN=write` writes the outputs into the file; read the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.notebook.shells import Notebook, notebook

FILE = Path(__file__).resolve().parents[2] / "examples" / "notebook.ipynb"


def test_the_example_notebook(tmp_path: Path) -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    with notebook(tmp_path) as cells:
        found = [_run(cells, cell) for cell in document["cells"]]
    if os.environ.get("AXON_GOLDEN") == "write":
        document["cells"] = found
        text = json.dumps(document, indent=1, ensure_ascii=False)
        FILE.write_text(f"{text}\n", encoding="utf-8")
    for cell, new in zip(document["cells"], found, strict=True):
        assert new.get("outputs") == cell.get("outputs"), "".join(cell["source"])


def _run(cells: Notebook, cell: dict[str, Any]) -> dict[str, Any]:
    """The cell with its outputs, as the file has them."""
    if cell["cell_type"] != "code":
        return cell
    ran = cells.run("".join(cell["source"]))
    fails = "raises-exception" in cell["metadata"].get("tags", [])
    assert ran.success is not fails, ran.printed
    outputs: list[dict[str, Any]] = [
        {
            "output_type": "display_data",
            "data": {kind: str(data).splitlines(keepends=True) for kind, data in each.items()},
            "metadata": {},
        }
        for each in ran.outputs
    ]
    if ran.printed.strip():
        lines = ran.printed.strip("\n").splitlines()
        outputs.append(
            {"output_type": "error", "ename": "AxonError", "evalue": lines[0], "traceback": lines}
            if fails
            else {"output_type": "stream", "name": "stdout", "text": lines}
        )
    count = cells.shell.execution_count - 1
    return {**cell, "execution_count": count, "outputs": outputs}
