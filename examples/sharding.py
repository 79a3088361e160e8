"""A network on a mesh of eight devices, which the processor plays: where each value lies, and what
each choice of sizes to cut costs.

python examples/sharding.py
"""

from __future__ import annotations

import jax
import numpy as np

import axon

PROGRAM = """
type Mlp(d, f) = { up : f32 [d,f], down : f32 [f,d] };

mlp = fn (p : Mlp(d, f), x : f32 [b,n,d]) { x + gelu(x @ p.up) @ p.down };
"""


def main() -> None:
    jax.config.update("jax_num_cpu_devices", 8)
    program = axon.compile(PROGRAM)
    net = program.on("jax", mesh={"data": 4, "model": 2}, shard={"b": "data", "f": "model"})
    weights = net.mlp.init(0, d=16, f=64)
    x = np.ones((8, 4, 16), np.float32)

    placed, _ = net.mlp.placed(weights, x)
    result = net.mlp(placed, x)
    for name, array in [*placed.items(), ("result", result)]:
        shard = array.addressable_shards[0].data.shape
        print(f"{name} {array.shape}: {shard} on each device")
    far = np.abs(np.asarray(result) - program.mlp(weights, x)).max()
    print(f"as on one device: {far < 1e-5}")
    print()
    print(program.mlp.sharding({"data": 4, "model": 2}, b=8, n=4, d=16, f=64))


if __name__ == "__main__":
    main()
