"""Base class of models that can be quantized."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.images.read_image import ImageSource
from cvzoo.links.quantization.quantize import quantize
from cvzoo.links.quantization.report import QuantizationReport
from cvzoo.weights.report import LoadReport

Model = TypeVar("Model", bound="AbstractQuantizable")


class AbstractQuantizable:
    """A model with `predict`, which can be quantized to int8 or bfloat16.

    quantization_report: the precision of each layer of a quantized model; None if it is not quantized
    """

    quantization_report: QuantizationReport | None = None

    def state_arrays(self) -> dict[str, np.ndarray]:
        """As in Link. Raises UnsupportedError for a quantized model, which needs its quantization parameters, too."""
        self._refuse("is more than its arrays", "cvzoo.serializers.save_model(file, model) writes all of it")
        return super().state_arrays()  # type: ignore[misc]

    def load_arrays(
        self, arrays: Mapping[str, np.ndarray], *, strict: bool = True, rename: Mapping[str, str] | None = None
    ) -> LoadReport:
        """As in Link. Raises UnsupportedError for a quantized model: its ranges were measured with other weights."""
        self._refuse("takes no other weights", "load the model it was made of, then model.quantize(imgs)")
        return super().load_arrays(arrays, strict=strict, rename=rename)  # type: ignore[misc]

    def _refuse(self, what: str, hint: str) -> None:
        if self.quantization_report is not None:
            raise UnsupportedError(f"a quantized model {what}", hint=hint)

    def quantize(
        self: Model,
        imgs: Iterable[ImageSource] = (),
        *,
        precision: str = "int8",
        method: str = "mse",
        percentile: float = 99.99,
        in_float: Sequence[str] = (),
        first_and_last: bool = True,
        least_work: int = 32,
        max_error: float = 0.05,
        photos: Iterable[ImageSource] | None = None,
    ) -> Model:
        """A new model whose convolutions and linear layers compute in int8 where that is faster; `self` is unchanged.

        imgs: calibration images, as for `predict`; a few dozen like those that will be predicted. They go through the
            model's own `prepare`, to measure the ranges of the layers' inputs; `photos` is its former name
        precision: "int8"; "bf16": factors are rounded to bfloat16 (8 significant bits), summed in float32
        method: where ranges are clipped: "mse": where the mean squared error of rounding and clipping is least;
            "percentile": so that `percentile` per cent are not clipped; "minmax": nowhere
        in_float: paths of layers, or of links with all layers below, that stay in float32 ("/head", "/res2/0/conv1")
        first_and_last: the first and the last layers stay in float32, since they lose most accuracy
        least_work: so does a layer where each input value takes part in fewer products than this, such as a depthwise
            convolution, unless its inputs are int8 already: converting them costs more than is gained
        max_error: so does a layer with a greater error than this (see `QuantizedLayer.error`)
        Raises ValueRangeError for no images or unknown settings, DtypeError or ShapeError for a single image,
        GraphError if the model is quantized already, UnsupportedError for "bf16" where the CPU has no
        instructions for it.

        Filters (with the batch normalization after them) have a scale each, activations one per layer; 0 is exact.
        Activations stay int8 between layers that read int8. The mean error of each channel over the first 16 images is
        corrected in the layer's bias or in that of its normalization (of the new model). The loss of accuracy of the
        whole model is not known: measure it (`cvzoo quantize --evaluate`). Transposed convolutions, the products of
        attention and all functions between the layers stay in float32. The new model is for inference only: it raises
        GraphError where gradients are computed, and so do an optimizer's `setup` and `compile(train=True)`.
        Source: Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
        Inference, CVPR 2018, section 3. Where we differ: there is no training, activations are quantized symmetrically,
        sums and activation functions are in float32.
        """
        return quantize(
            self,
            imgs if photos is None else photos,
            precision=precision,
            method=method,
            percentile=percentile,
            in_float=in_float,
            first_and_last=first_and_last,
            least_work=least_work,
            max_error=max_error,
        )
