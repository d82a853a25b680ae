"""The messages of Caffe's network definition, as tables: field number, name, kind.

Source: Caffe's `caffe.proto` (BVLC, and the ssd branch for Permute, Normalize, PriorBox, DetectionOutput); facts only,
and only those needed to run a network. A `*` after the kind means "repeated". Other fields are skipped in a binary
file and kept as written in a text file.
"""

import dataclasses

SCALARS = ("int32", "int64", "uint32", "bool", "float", "double", "string")


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a message; `kind` is one of SCALARS, "Blob", or the name of a message or of an enumeration."""

    number: int
    name: str
    kind: str
    repeated: bool


def _names(text: str) -> dict[int, str]:
    return dict(enumerate(text.split()))


ENUMS: dict[str, dict[int, str]] = {
    "Phase": _names("TRAIN TEST"),
    "Engine": _names("DEFAULT CAFFE CUDNN"),
    "EltwiseOp": _names("PROD SUM MAX"),
    "NormRegion": _names("ACROSS_CHANNELS WITHIN_CHANNEL"),
    "PoolMethod": _names("MAX AVE STOCHASTIC"),
    "RoundMode": _names("CEIL FLOOR"),
    "NormalizationMode": _names("FULL VALID BATCH_SIZE NONE"),
    "VarianceNorm": _names("FAN_IN FAN_OUT AVERAGE"),
    "DimCheckMode": _names("STRICT PERMISSIVE"),
    "DB": _names("LEVELDB LMDB"),
    "Norm": {1: "L1", 2: "L2"},
    "CodeType": {1: "CORNER", 2: "CENTER_SIZE", 3: "CORNER_SIZE"},
    "ReductionOp": {1: "SUM", 2: "ASUM", 3: "SUMSQ", 4: "MEAN"},
    # the types of the old `layers`, by number; text files have them in capitals, see V1_SPELLING
    "V1LayerType": _names(
        "None Accuracy BNLL Concat Convolution Data Dropout EuclideanLoss Flatten HDF5Data HDF5Output Im2col ImageData "
        "InfogainLoss InnerProduct LRN MultinomialLogisticLoss Pooling ReLU Sigmoid Softmax SoftmaxWithLoss Split TanH "
        "WindowData Eltwise Power SigmoidCrossEntropyLoss HingeLoss MemoryData ArgMax Threshold DummyData Slice MVN "
        "AbsVal Silence ContrastiveLoss Exp Deconvolution"
    ),
}
V1_SPELLING = {
    "NONE": "None",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    **{name.upper(): name for name in ENUMS["V1LayerType"].values()},
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "DUMMY_DATA": "DummyData",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "HINGE_LOSS": "HingeLoss",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "WINDOW_DATA": "WindowData",
}

_TEXT = """
BlobShape: 1 dim int64*
FillerParameter: 1 type string, 2 value float, 3 min float, 4 max float, 5 mean float, 6 std float, 7 sparse int32,
  8 variance_norm VarianceNorm
NetParameter: 1 name string, 3 input string*, 8 input_shape BlobShape*, 4 input_dim int32*, 5 force_backward bool,
  6 state NetState, 7 debug_info bool, 100 layer LayerParameter*, 2 layers V1LayerParameter*
NetState: 1 phase Phase, 2 level int32, 3 stage string*
NetStateRule: 1 phase Phase, 2 min_level int32, 3 max_level int32, 4 stage string*, 5 not_stage string*
ParamSpec: 1 name string, 2 share_mode DimCheckMode, 3 lr_mult float, 4 decay_mult float
LayerParameter: 1 name string, 2 type string, 3 bottom string*, 4 top string*, 10 phase Phase, 5 loss_weight float*,
  6 param ParamSpec*, 7 blobs Blob*, 11 propagate_down bool*, 8 include NetStateRule*, 9 exclude NetStateRule*,
  100 transform_param TransformationParameter, 101 loss_param LossParameter, 102 accuracy_param AccuracyParameter,
  103 argmax_param ArgMaxParameter, 139 batch_norm_param BatchNormParameter, 141 bias_param BiasParameter,
  104 concat_param ConcatParameter, 106 convolution_param ConvolutionParameter, 144 crop_param CropParameter,
  107 data_param DataParameter, 108 dropout_param DropoutParameter, 109 dummy_data_param DummyDataParameter,
  110 eltwise_param EltwiseParameter, 140 elu_param ELUParameter, 111 exp_param ExpParameter,
  135 flatten_param FlattenParameter, 115 image_data_param ImageDataParameter,
  117 inner_product_param InnerProductParameter, 143 input_param InputParameter, 134 log_param LogParameter,
  118 lrn_param LRNParameter, 119 memory_data_param MemoryDataParameter, 120 mvn_param MVNParameter,
  121 pooling_param PoolingParameter, 122 power_param PowerParameter, 131 prelu_param PReLUParameter,
  136 reduction_param ReductionParameter, 123 relu_param ReLUParameter, 133 reshape_param ReshapeParameter,
  142 scale_param ScaleParameter, 124 sigmoid_param SigmoidParameter, 125 softmax_param SoftmaxParameter,
  126 slice_param SliceParameter, 127 tanh_param TanHParameter, 138 tile_param TileParameter,
  149 upsample_param UpsampleParameter, 202 permute_param PermuteParameter, 203 prior_box_param PriorBoxParameter,
  204 detection_output_param DetectionOutputParameter, 206 norm_param NormalizeParameter
V1LayerParameter: 2 bottom string*, 3 top string*, 4 name string, 32 include NetStateRule*, 33 exclude NetStateRule*,
  5 type V1LayerType, 6 blobs Blob*, 1001 param string*, 1002 blob_share_mode DimCheckMode*, 7 blobs_lr float*,
  8 weight_decay float*, 35 loss_weight float*, 27 accuracy_param AccuracyParameter, 23 argmax_param ArgMaxParameter,
  9 concat_param ConcatParameter, 10 convolution_param ConvolutionParameter, 11 data_param DataParameter,
  12 dropout_param DropoutParameter, 26 dummy_data_param DummyDataParameter, 24 eltwise_param EltwiseParameter,
  41 exp_param ExpParameter, 15 image_data_param ImageDataParameter, 17 inner_product_param InnerProductParameter,
  18 lrn_param LRNParameter, 22 memory_data_param MemoryDataParameter, 34 mvn_param MVNParameter,
  19 pooling_param PoolingParameter, 21 power_param PowerParameter, 30 relu_param ReLUParameter,
  38 sigmoid_param SigmoidParameter, 39 softmax_param SoftmaxParameter, 31 slice_param SliceParameter,
  37 tanh_param TanHParameter, 36 transform_param TransformationParameter, 42 loss_param LossParameter,
  1 layer V0LayerParameter
V0LayerParameter: 1 name string, 2 type string
TransformationParameter: 1 scale float, 2 mirror bool, 3 crop_size uint32, 4 mean_file string, 5 mean_value float*,
  6 force_color bool, 7 force_gray bool
LossParameter: 1 ignore_label int32, 3 normalization NormalizationMode, 2 normalize bool
AccuracyParameter: 1 top_k uint32, 2 axis int32, 3 ignore_label int32
ArgMaxParameter: 1 out_max_val bool, 2 top_k uint32, 3 axis int32
BatchNormParameter: 1 use_global_stats bool, 2 moving_average_fraction float, 3 eps float
BiasParameter: 1 axis int32, 2 num_axes int32, 3 filler FillerParameter
ConcatParameter: 2 axis int32, 1 concat_dim uint32
ConvolutionParameter: 1 num_output uint32, 2 bias_term bool, 3 pad uint32*, 4 kernel_size uint32*, 6 stride uint32*,
  18 dilation uint32*, 9 pad_h uint32, 10 pad_w uint32, 11 kernel_h uint32, 12 kernel_w uint32, 13 stride_h uint32,
  14 stride_w uint32, 5 group uint32, 7 weight_filler FillerParameter, 8 bias_filler FillerParameter,
  15 engine Engine, 16 axis int32, 17 force_nd_im2col bool
CropParameter: 1 axis int32, 2 offset uint32*
DataParameter: 1 source string, 4 batch_size uint32, 7 rand_skip uint32, 8 backend DB, 2 scale float,
  3 mean_file string, 5 crop_size uint32, 6 mirror bool, 9 force_encoded_color bool, 10 prefetch uint32
DropoutParameter: 1 dropout_ratio float
DummyDataParameter: 1 data_filler FillerParameter*, 6 shape BlobShape*, 2 num uint32*, 3 channels uint32*,
  4 height uint32*, 5 width uint32*
EltwiseParameter: 1 operation EltwiseOp, 2 coeff float*, 3 stable_prod_grad bool
ELUParameter: 1 alpha float
ExpParameter: 1 base float, 2 scale float, 3 shift float
FlattenParameter: 1 axis int32, 2 end_axis int32
ImageDataParameter: 1 source string, 4 batch_size uint32, 7 rand_skip uint32, 8 shuffle bool, 9 new_height uint32,
  10 new_width uint32, 11 is_color bool, 2 scale float, 3 mean_file string, 5 crop_size uint32, 6 mirror bool,
  12 root_folder string
InnerProductParameter: 1 num_output uint32, 2 bias_term bool, 3 weight_filler FillerParameter,
  4 bias_filler FillerParameter, 5 axis int32, 6 transpose bool
InputParameter: 1 shape BlobShape*
LogParameter: 1 base float, 2 scale float, 3 shift float
LRNParameter: 1 local_size uint32, 2 alpha float, 3 beta float, 4 norm_region NormRegion, 5 k float, 6 engine Engine
MemoryDataParameter: 1 batch_size uint32, 2 channels uint32, 3 height uint32, 4 width uint32
MVNParameter: 1 normalize_variance bool, 2 across_channels bool, 3 eps float
PoolingParameter: 1 pool PoolMethod, 4 pad uint32, 9 pad_h uint32, 10 pad_w uint32, 2 kernel_size uint32,
  5 kernel_h uint32, 6 kernel_w uint32, 3 stride uint32, 7 stride_h uint32, 8 stride_w uint32, 11 engine Engine,
  12 global_pooling bool, 13 round_mode RoundMode
PowerParameter: 1 power float, 2 scale float, 3 shift float
PReLUParameter: 1 filler FillerParameter, 2 channel_shared bool
ReductionParameter: 1 operation ReductionOp, 2 axis int32, 3 coeff float
ReLUParameter: 1 negative_slope float, 2 engine Engine
ReshapeParameter: 1 shape BlobShape, 2 axis int32, 3 num_axes int32
ScaleParameter: 1 axis int32, 2 num_axes int32, 3 filler FillerParameter, 4 bias_term bool,
  5 bias_filler FillerParameter
SigmoidParameter: 1 engine Engine
SliceParameter: 3 axis int32, 2 slice_point uint32*, 1 slice_dim uint32
SoftmaxParameter: 1 engine Engine, 2 axis int32
TanHParameter: 1 engine Engine
TileParameter: 1 axis int32, 2 tiles int32
UpsampleParameter: 1 scale int32
PermuteParameter: 1 order uint32*
NormalizeParameter: 1 across_spatial bool, 2 scale_filler FillerParameter, 3 channel_shared bool, 4 eps float
PriorBoxParameter: 1 min_size float*, 2 max_size float*, 3 aspect_ratio float*, 4 flip bool, 5 clip bool,
  6 variance float*, 7 img_size uint32, 8 img_h uint32, 9 img_w uint32, 10 step float, 11 step_h float,
  12 step_w float, 13 offset float
NonMaximumSuppressionParameter: 1 nms_threshold float, 2 top_k int32, 3 eta float
DetectionOutputParameter: 1 num_classes uint32, 2 share_location bool, 3 background_label_id int32,
  4 nms_param NonMaximumSuppressionParameter, 6 code_type CodeType, 8 variance_encoded_in_target bool,
  7 keep_top_k int32, 9 confidence_threshold float
"""


def _messages() -> dict[str, dict[str, Field]]:
    messages: dict[str, dict[str, Field]] = {}
    for line in _TEXT.replace("\n  ", " ").strip().splitlines():
        message, _, body = line.partition(": ")
        fields = (text.split() for text in body.split(", "))
        messages[message] = {name: Field(int(n), name, k.rstrip("*"), k[-1] == "*") for n, name, k in fields}
    return messages


# message -> field name -> field; and message -> field number -> field
MESSAGES = _messages()
BY_NUMBER = {message: {f.number: f for f in fields.values()} for message, fields in MESSAGES.items()}
