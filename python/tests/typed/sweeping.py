"""A sweep."""

import tippe


def slides(run: tippe.Run) -> dict[str, float]:
    return {"distance": float(run["block"].position[-1, 0]), "residual": float(run.residual.max())}


table = tippe.sweep(
    "block_ramp", {"materials.wood.friction": [0.1, 0.2], "step": [0.01, 0.005]}, slides, resume="runs/", progress=False
)
print(table.describe(), table["distance"].mean())
