"""Base class of models that can be quantized."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.quantization.quantize import quantize
from cvzoo.links.quantization.report import QuantizationReport
from cvzoo.weights.report import LoadReport

Model = TypeVar("Model", bound="AbstractQuantizable")


class AbstractQuantizable:
    """A model with `predict`, which can be quantized to int8 or bfloat16.

    quantization_report: of a quantized model, what became of its layers; None of any other
    """

    quantization_report: QuantizationReport | None = None

    def state_arrays(self) -> dict[str, np.ndarray]:
        """As in Link. Raises UnsupportedError for a quantized model: its arrays alone are not all of it."""
        self._refuse("is more than its arrays", "cvzoo.serializers.save_model(file, model) writes all of it")
        return super().state_arrays()  # type: ignore[misc]

    def load_arrays(
        self, arrays: Mapping[str, np.ndarray], *, strict: bool = True, rename: Mapping[str, str] | None = None
    ) -> LoadReport:
        """As in Link. Raises UnsupportedError for a quantized model: its ranges were measured with other numbers."""
        self._refuse("takes no other weights", "load the model it was made of, then model.quantize(photos)")
        return super().load_arrays(arrays, strict=strict, rename=rename)  # type: ignore[misc]

    def _refuse(self, what: str, hint: str) -> None:
        if self.quantization_report is not None:
            raise UnsupportedError(f"a quantized model {what}", hint=hint)

    def quantize(
        self: Model,
        photos: Iterable[Any],
        *,
        precision: str = "int8",
        method: str = "mse",
        percentile: float = 99.99,
        in_float: Sequence[str] = (),
        first_and_last: bool = True,
        least_work: int = 32,
        max_error: float = 0.05,
    ) -> Model:
        """A new model whose convolutions and linear layers compute in int8 where that is faster; `self` is unchanged.

        photos: as `predict` takes them; some tens like those that will be predicted. They go through the model's own
            `prepare`, to see what values each layer reads
        precision: "int8"; "bf16": factors are rounded to bfloat16 (8 bits of a number, and its size), summed in float32
        method: where these are cut: "mse": where the mean square of what rounding and cutting lose is least;
            "percentile": so that `percentile` per cent are not cut; "minmax": nowhere
        in_float: paths of layers, or of links with all layers below, that stay in float32 ("/head", "/res2/0/conv1")
        first_and_last: layers that read the image or that no other layer comes after stay in float32: they lose most
        least_work: so does a layer where each number that is read takes part in fewer products than this, such as a
            depthwise convolution, unless other layers hand it bytes: making them costs more there than is won
        max_error: so does a layer that this throws off by more than this (see `QuantizedLayer.error`)
        Raises ValueRangeError for no images or unknown settings, DtypeError or ShapeError for a single image,
        GraphError if the model is quantized already, UnsupportedError for "bf16" where the CPU has no
        instructions for it.

        Filters (with the batch normalization behind them) have a scale each, activations one per layer; 0 is a byte.
        Activations stay int8 between layers that read int8. What a channel loses in the mean, over the
        first 16 images, is added to the layer's bias or to that of its normalization (of the new model; this one
        stays). What the whole model loses is not known: measure it (`cvzoo quantize --evaluate`). Transposed
        convolutions, the products of attention and all between the layers stay in float32. It predicts only: where
        gradients are being taken it raises GraphError; so do an optimizer's `setup` and `compile(train=True)`.
        Source: Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
        Inference, CVPR 2018, section 3. Where we differ: nothing is trained again, activations are counted from 0
        on both sides, sums and activation functions are in float32.
        """
        return quantize(
            self,
            photos,
            precision=precision,
            method=method,
            percentile=percentile,
            in_float=in_float,
            first_and_last=first_and_last,
            least_work=least_work,
            max_error=max_error,
        )
