"""How far a prediction is from the truth."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
IGNORED = -100


def reduction(node: TorchNode) -> str:
    found = node.integer("reduction", 1)
    if found not in REDUCTIONS:
        raise Malformed(f"its argument `reduction` is {found}")
    return REDUCTIONS[found]


def reduced(node: TorchNode, losses: Expression) -> Expression:
    """The losses, or their mean or their sum."""
    kind = reduction(node)
    return losses if kind == "none" else node.call(kind, losses)


def pair(node: TorchNode) -> tuple[str, Expression, Expression]:
    """A prediction and its truth in one element type."""
    name = "input" if "input" in node.attributes else "self"
    elem = node.joint(name, "target") or elements.DEFAULT
    return elem, node.operand(name, elem), node.operand("target", elem)


PLAIN = {
    "mse_loss": "squared_error", "l1_loss": "absolute_error", "soft_margin_loss": "soft_margin",
}  # fmt: skip


@rule(*PLAIN)
def plain(node: TorchNode) -> Made:
    _, x, y = pair(node)
    return reduced(node, node.call(PLAIN[node.operator], x, y))


@rule("huber_loss", "smooth_l1_loss")
def huber(node: TorchNode) -> Made:
    elem, x, y = pair(node)
    name = "delta" if node.operator == "huber_loss" else "beta"
    bound = float(node.real(name, 1.0))
    if bound == 0.0:
        return reduced(node, node.call("absolute_error", x, y))
    operator = "huber_error" if name == "delta" else "smooth_error"
    return reduced(node, node.call(operator, x, y, node.scalar(bound, elem)))


@rule("binary_cross_entropy", "binary_cross_entropy_with_logits")
def binary_cross_entropy(node: TorchNode) -> Made:
    elem, x, y = pair(node)
    if node.operator == "binary_cross_entropy":
        losses = node.call("binary_surprise", x, y)
    else:
        given = node.index("pos_weight") is not None
        weight = node.operand("pos_weight", elem) if given else node.scalar(1.0, elem)
        losses = node.call("binary_surprise_of_logits", x, y, weight)
    if node.index("weight") is not None:
        losses = node.call("*", losses, node.operand("weight", elem))
    return reduced(node, losses)


@rule("kl_div")
def kl_div(node: TorchNode) -> Made:
    _, x, y = pair(node)
    logs = node.flag("log_target")
    return reduced(node, node.call("divergence_of_logs" if logs else "divergence", x, y))


@rule("poisson_nll_loss")
def poisson_nll(node: TorchNode) -> Made:
    elem, x, y = pair(node)
    if node.flag("full"):
        return node.type_of(reduced(node, node.call("-", x, y)))
    if node.flag("log_input", True):
        return reduced(node, node.call("poisson_surprise_of_logs", x, y))
    moved = node.scalar(float(node.real("eps", 1e-8)), elem)
    return reduced(node, node.call("poisson_surprise", x, y, moved))


@rule("margin_ranking_loss")
def margin_ranking(node: TorchNode) -> Made:
    elem = node.joint("input1", "input2", "target") or elements.DEFAULT
    a, b, y = (node.operand(name, elem) for name in ("input1", "input2", "target"))
    margin = node.scalar(float(node.real("margin", 0.0)), elem)
    return reduced(node, node.call("ranking_error", a, b, y, margin))


@rule("hinge_embedding_loss")
def hinge_embedding(node: TorchNode) -> Made:
    elem, x, y = pair(node)
    margin = node.scalar(float(node.real("margin", 1.0)), elem)
    return reduced(node, node.call("hinge_error", x, y, margin))


@rule("multi_margin_loss", "multilabel_margin_loss")
def multi_margin(node: TorchNode) -> Made:
    return _by_rows(node, "self", "[n,c]", "[c]")


def _by_rows(node: TorchNode, name: str, batch: str, alone: str) -> Expression:
    """A loss for each of a batch, or for one example, as its rank says; or one for all."""
    at = node.tensor_index(name)
    if reduction(node) != "none":
        return node.declared("t p -> t []", at)
    rank = node.rank(at)
    if rank is None:
        return node.declared("t p -> t ?r", at)
    many = rank == batch.count(",") + 1
    return node.declared(f"t {batch} -> t [n]" if many else f"t {alone} -> t []", at)


@rule("triplet_margin_loss")
def triplet_margin(node: TorchNode) -> Made:
    """What is alike must be nearer than what is not, by a margin."""
    names = ("anchor", "positive", "negative")
    elem = node.joint(*names) or elements.DEFAULT
    near, like, other = (node.operand(name, elem) for name in names)
    how = {"p": float(node.real("p", 2.0)), "moved": float(node.real("eps", 1e-6))}
    far = node.call("distance", near, other, **how)
    if node.flag("swap"):
        far = node.call("minimum", far, node.call("distance", like, other, **how))
    margin = node.scalar(float(node.real("margin", 1.0)), elem)
    own = node.call("distance", near, like, **how)
    return reduced(node, node.call("relu", node.call("-", node.call("+", own, margin), far)))


@rule("cosine_embedding_loss")
def cosine_embedding(node: TorchNode) -> Made:
    """For truths of 1 and -1: how far an angle is from nothing, or what it lacks to a margin."""
    elem, rank = node.joint("input1", "input2") or elements.DEFAULT, node.rank_of("target")
    if rank not in (0, 1):
        raise Unsupported("cosine_embedding_loss of a tensor whose rank is not known")
    sides = [node.operand(name, elem) for name in ("input1", "input2")]
    cosine = node.call("cosine", *sides, axis=rank)
    margin = node.scalar(float(node.real("margin", 0.0)), elem)
    truth = node.operand("target", elem)
    return reduced(node, node.call("angle_error", cosine, truth, margin))


# --- classes ---------------------------------------------------------------------------------


@rule("nll_loss", "nll_loss_nd", "nll_loss2d", "nll_loss_forward", "nll_loss2d_forward")
def nll(node: TorchNode) -> None:
    """The sum of the weights is given beside the loss, for gradients."""
    made = _likelihood(node, node.x())
    node.set_outputs(made, node.declared("t p -> t []", node.tensor_index("self")))


@rule("cross_entropy_loss")
def cross_entropy(node: TorchNode) -> Made:
    rank, target = node.rank_of(), node.elem_of("target")
    if rank is None or target is None:
        shape = "[]" if reduction(node) != "none" else "?r"
        return node.declared(f"t p -> t {shape}", node.tensor_index("self"))
    axis = 0 if rank == 1 else 1
    logs = node.call("log_softmax", node.x(), axis=axis)
    smooth = float(node.real("label_smoothing", 0.0))
    if elements.is_float(target):
        made = _by_probabilities(node, logs, axis, rank)
    else:
        made = _likelihood(node, logs)
    return node.type_of(made) if smooth else made


def _likelihood(node: TorchNode, logs: Expression) -> Expression:
    """The loss by the numbers of classes; without a batch, of a batch of one."""
    if node.rank_of() is None:
        shape = "[]" if reduction(node) != "none" else "q"
        at = node.tensor_index("self"), node.tensor_index("target")
        return node.declared(f"(t p, u q) -> t {shape}", *at)
    alone = node.rank_of() == 1
    target = node.x("target")
    if alone:
        logs = node.call("expand_dims", logs, axis=[0])
        if node.rank_of("target") == 0:
            target = node.call("expand_dims", target, axis=[0])
    weights = [node.x("weight")] if node.index("weight") is not None else []
    kind = reduction(node)
    ignored = node.integer("ignore_index", IGNORED)
    parts = (logs, target, *weights)
    made = node.call("negative_log_likelihood", *parts, reduction=kind, ignore=ignored)
    if alone and kind == "none" and node.rank_of("target") == 0:
        return node.call("squeeze", made, axis=[0])
    return made


def _by_probabilities(node: TorchNode, logs: Expression, axis: int, rank: int) -> Expression:
    """The loss by how likely each class is; the mean is by examples."""
    each = node.call("*", logs, node.operand("target", node.elem_of()))
    if node.index("weight") is not None:
        weight = node.x("weight")
        if rank > 2:
            weight = node.call("expand_dims", weight, axis=list(range(1, rank - 1)))
        each = node.call("*", each, weight)
    losses = node.call("negate", node.call("sum", each, axis=[axis]))
    return reduced(node, losses)


@rule("ctc_loss")
def ctc(node: TorchNode) -> Made:
    return _by_rows(node, "log_probs", "[s,n,c]", "[s,c]")


@rule("_ctc_loss")
def ctc_with_paths(node: TorchNode) -> None:
    at = node.tensor_index("log_probs")
    losses = "t [s,n,c] -> t [n]" if node.rank(at) == 3 else "t p -> t ?r"
    node.set_outputs(node.declared(losses, at), node.declared("t p -> t ?r", at))
