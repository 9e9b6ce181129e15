"""Training on several devices: members go to devices, or each device takes a part of every batch."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Float

from .. import _check
from ..lanes import LANES

# One of `jax.devices()`, whose class has another name in every version.
Device = Any
AXIS = "device"
EVERYWHERE, PARTED = PartitionSpec(), PartitionSpec(AXIS)


def as_mesh(devices: int | Sequence[Device] | None) -> Mesh | None:
    """The devices that work: so many of those there are, or these; None for the default one alone."""
    if devices is None:
        return None
    if isinstance(devices, int):
        there = jax.devices()
        _check.size("devices", devices, most=len(there))
        devices = there[:devices]
    if not devices:
        raise ValueError("devices is an empty list; expected at least one, or None for the default device.")
    return Mesh(list(devices), (AXIS,)) if len(devices) > 1 else None


def check_parts(mesh: Mesh, members: int, batch: int, by_numbers: bool) -> None:
    """Refuse what can't be parted evenly: neither members nor batch."""
    count = mesh.size
    # Parts are whole groups of lanes: then a device makes the same contexts of its numbers as one device would.
    whole = LANES * count if by_numbers else count
    if members % count and batch % whole:
        raise ValueError(
            f"there are {members} members and batch is {batch}, on {count} devices; expected members a multiple of "
            f"{count}, or batch a multiple of {whole}."
        )


def by_members(run: Callable[..., Any], mesh: Mesh, arguments: int) -> Callable[..., Any]:
    """A function of so many arguments, stacked over members, that runs on the members of each device by itself.

    It returns members, and losses whose second axis is over members.
    """
    return jax.shard_map(
        run,
        mesh=mesh,
        in_specs=(PARTED,) * arguments,
        out_specs=(PARTED, PartitionSpec(None, AXIS)),
        check_vma=False,
    )


def by_batch(loss: Callable[..., Float[Array, ""]], mesh: Mesh) -> Callable[..., Float[Array, ""]]:
    """The mean loss `loss(arrays, task, drawn)` of a batch whose draws are parted over the devices."""

    def own(arrays: Any, task: Any, drawn: Array) -> Float[Array, ""]:
        return jax.lax.pmean(loss(arrays, task, drawn), AXIS)

    return jax.shard_map(
        own, mesh=mesh, in_specs=(EVERYWHERE, EVERYWHERE, PARTED), out_specs=EVERYWHERE, check_vma=False
    )


def parted(drawn: Array, mesh: Mesh) -> Array:
    """Draws (members, ...) of which each device makes its own part."""
    return jax.lax.with_sharding_constraint(drawn, NamedSharding(mesh, PartitionSpec(None, AXIS)))
