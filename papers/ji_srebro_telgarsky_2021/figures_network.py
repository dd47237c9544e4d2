"""Networks of Section 6 of Ji, Srebro and Telgarsky (2021), and the kernels of their gradients.

A network A(·; v) with k outputs gives each image x the feature ∇_v A(x; v), a Jacobian of k rows,
as many columns as there are parameters. Nothing here writes such features down for all images:

- *Gram matrix.* The gradient of an output by the weights of a dense layer is δ ⊗ a, δ being the
  derivative by what leaves the layer and a what enters it, so the inner product of two of them is
  ⟨δ, δ'⟩⟨a, a'⟩. Gradients of one convolution are written down, a few channels at a time: they are
  Σ_p δ_p ⊗ a_p over positions p, with a_p the patch that position p sees.
- *Prediction.* w = Σ_i Σ_c β_ic ∇A_c(x_i) is a vector of parameters, one reverse pass, and
  ⟨w, ∇A_c(x)⟩ for all c is the derivative of A(x; ·) along w, one forward pass.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gammabar.problems.environment import extra_module

Floats = NDArray[np.float64]


def _torch_module() -> Any:
    """PyTorch, or a sentence that says how to install it."""
    return extra_module("torch", "networks", "a deep network")


def alexnet(width: int, seed: int, classes: int = 10, side: int = 32) -> Any:
    """An AlexNet for small images: five convolutions, three dense layers, ReLU, max-pooling.

    Convolutions have 1, 3, 6, 4 and 4 times `width` channels (a multiple of 8), the ratios of
    AlexNet, where width is 64; dense layers have 32 times `width` nodes, half of AlexNet's. Initial
    parameters are those that PyTorch draws: uniform between −1/√inputs and 1/√inputs, a sixth of
    the variance that He et al. (ICCV 2015) advise. Images have three colours, and a `side` that is
    a multiple of 16. There is no dropout, which would make features random, nor normalisation.
    """
    torch = _torch_module()
    nn = torch.nn
    torch.manual_seed(seed)
    one, three, six, four = (width * factor for factor in (1, 3, 6, 4))

    def conv(inputs: int, outputs: int, stride: int = 1) -> list[Any]:
        return [nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), nn.ReLU()]

    return nn.Sequential(
        *conv(3, one, stride=2),
        nn.MaxPool2d(2),
        *conv(one, three),
        nn.MaxPool2d(2),
        *conv(three, six),
        *conv(six, four),
        *conv(four, four),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(four * (side // 16) ** 2, 32 * width),
        nn.ReLU(),
        nn.Linear(32 * width, 32 * width),
        nn.ReLU(),
        nn.Linear(32 * width, classes),
    )


def images(X: NDArray[np.uint8]) -> Any:
    """Images of bytes, colours last, as a tensor of numbers from −1 to 1, colours first."""
    torch = _torch_module()
    return torch.from_numpy(np.ascontiguousarray(X.transpose(0, 3, 1, 2))).float() / 127.5 - 1


def train(
    model: Any, X: Any, labels: NDArray[Any], seed: int, step: float, batch: int
) -> Iterator[float]:
    """Plain mini-batch SGD on the cross-entropy, in place; the loss after each epoch, endlessly."""
    torch = _torch_module()
    target = torch.from_numpy(np.asarray(labels, dtype=np.int64))
    order = torch.Generator().manual_seed(seed)
    loss_of = torch.nn.functional.cross_entropy
    parameters = list(model.parameters())
    while True:
        for part in torch.randperm(len(X), generator=order).split(batch):
            gradients = torch.autograd.grad(loss_of(model(X[part]), target[part]), parameters)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter -= step * gradient
        with torch.no_grad():  # not around the yield: it would hold for the caller as well
            loss = float(loss_of(model(X), target))
        yield loss


# --- the Gram matrix -------------------------------------------------------------------------


def jacobian_gram(model: Any, X: Any) -> Floats:
    """⟨∇A_c(x_i), ∇A_b(x_j)⟩ in double precision, as a symmetric matrix; row i k + c is output c.

    The model is a sequence of convolutions, dense layers and layers without parameters.
    """
    torch = _torch_module()
    seen: list[Any] = []  # layer, what enters and what leaves it
    double = copy.deepcopy(model).double()
    for layer in double:
        if list(layer.parameters()):
            layer.register_forward_hook(lambda *call: seen.append(call))
    outputs = double(X.double())
    left = [output for _, _, output in seen]
    every = [
        torch.autograd.grad(outputs[:, c].sum(), left, retain_graph=True)
        for c in range(outputs.shape[1])
    ]
    total = np.zeros((outputs.numel(), outputs.numel()))
    for (layer, (inputs,), _), deltas in zip(seen, zip(*every, strict=True), strict=True):
        delta = torch.stack(deltas, dim=1)  # n, k, then what the layer puts out
        total += _layer(torch, layer, inputs.detach(), delta).numpy()
    return np.tril(total) + np.tril(total, -1).T


def _layer(torch: Any, layer: Any, inputs: Any, delta: Any) -> Any:
    """The part of the Gram matrix that belongs to the parameters of a layer."""
    n, k = delta.shape[:2]
    if isinstance(layer, torch.nn.Linear):
        flat, every = delta.reshape(n * k, -1), torch.arange(n).repeat_interleave(k)
        inner = inputs @ inputs.T + (layer.bias is not None)
        return (flat @ flat.T) * inner[every][:, every]
    patches = torch.nn.functional.unfold(
        inputs, layer.kernel_size, layer.dilation, layer.padding, layer.stride
    )
    if layer.bias is not None:  # like one more input, which is one everywhere
        patches = torch.cat([patches, torch.ones_like(patches[:, :1])], dim=1)
    total = torch.zeros(n * k, n * k, dtype=delta.dtype)
    for part in delta.flatten(3).split(max(1, 20_000 // patches.shape[1]), dim=2):
        flat = torch.einsum("ikcp,iap->ikca", part, patches).reshape(n * k, -1)
        total += flat @ flat.T
    return total


# --- predictions -----------------------------------------------------------------------------


def direction(model: Any, X: Any, coefficients: Floats) -> dict[str, Any]:
    """Σ_i Σ_c β_ic ∇A_c(x_i), by the names of the parameters."""
    torch = _torch_module()
    names = dict(model.named_parameters())
    weighted = (torch.from_numpy(coefficients).to(X.dtype) * model(X)).sum()
    found = torch.autograd.grad(weighted, list(names.values()))
    return dict(zip(names, found, strict=True))


def derivatives(model: Any, X: Any, along: dict[str, Any], batch: int = 500) -> Floats:
    """⟨w, ∇A_c(x)⟩ for every image and output: the derivative of A(x; ·) along w."""
    torch = _torch_module()
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def outputs(values: dict[str, Any], part: Any) -> Any:
        return torch.func.functional_call(model, values, (part,))

    found = []
    for part in X.split(batch):
        _, tangent = torch.func.jvp(lambda v, x=part: outputs(v, x), (parameters,), (along,))
        found.append(tangent.detach().double().numpy())
    return np.concatenate(found)


def error_of(outputs: Floats, labels: NDArray[Any]) -> float:
    """The part of the images whose largest output is not that of their class."""
    return float(np.mean(np.argmax(outputs, axis=1) != labels))


def network_error(model: Any, X: Any, labels: NDArray[Any], batch: int = 1000) -> float:
    """The error of the network itself."""
    torch = _torch_module()
    with torch.no_grad():
        found = [model(part).double().numpy() for part in X.split(batch)]
    return error_of(np.concatenate(found), labels)
