"""Every name of Chainer 7.8's documentation exists in cvzoo, or its error says what to write."""

import importlib
import re

import pytest

from cvzoo.errors.exceptions import ReplacedNameError
from cvzoo.lazy_imports.absent_names import ABSENT

# package of cvzoo -> names of Chainer's package, of its reference manual and of the `__init__`
NAMES = {
    "cvzoo": (
        "AbstractSerializer as_array as_variable backend backends backward Chain ChainList computational_graph "
        "config configuration cross_entropy cuda dataset datasets debug DebugMode Deserializer device_resident "
        "DeviceResident DictSummary Distribution distributions exporters force_backprop_mode Function "
        "function_hooks FunctionAdapter FunctionHook FunctionNode functions get_array_types get_compute_mode "
        "get_cpu_array_types get_current_reporter get_device get_dtype get_function_hooks global_config grad "
        "gradient_check GradientMethod graph graph_optimizations Initializer initializers is_arrays_compatible "
        "is_debug iterators kl_divergence Link LinkHook links mixed16 no_backprop_mode Optimizer optimizer "
        "optimizers Parameter print_runtime_info register_kl report report_scope Reporter Sequential Serializer "
        "serializers set_debug should_use_cudnn should_use_cudnn_tensor_core static_code static_graph Summary "
        "training UpdateRule using_config using_device Variable variable"
    ),
    "cvzoo.backends": ("cuda intel64"),
    "cvzoo.backends.cuda": (
        "clear_memo copy DummyDeviceType elementwise get_array_module get_device get_device_from_array "
        "get_device_from_id get_max_workspace_size GpuDevice memoize raw reduce set_max_workspace_size to_cpu "
        "to_gpu"
    ),
    "cvzoo.dataset": (
        "cache_or_load_file cached_download concat_examples ConcatWithAsyncTransfer Converter converter "
        "DatasetMixin get_dataset_directory get_dataset_root Iterator set_dataset_root tabular TabularDataset "
        "to_device"
    ),
    "cvzoo.datasets": (
        "ConcatenatedDataset DictDataset get_cifar10 get_cifar100 get_cross_validation_datasets "
        "get_cross_validation_datasets_random get_fashion_mnist get_fashion_mnist_labels get_kuzushiji_mnist "
        "get_kuzushiji_mnist_labels get_mnist get_ptb_words get_ptb_words_vocabulary get_svhn ImageDataset "
        "LabeledImageDataset LabeledZippedImageDataset MultiZippedImageDataset open_pickle_dataset "
        "open_pickle_dataset_writer PickleDataset PickleDatasetWriter split_dataset split_dataset_n "
        "split_dataset_n_random split_dataset_random SubDataset TextDataset TransformDataset TupleDataset "
        "ZippedImageDataset"
    ),
    "cvzoo.function_hooks": ("CUDAProfileHook CupyMemoryProfileHook PrintHook TimerHook"),
    "cvzoo.functions": (
        "absolute absolute_error accuracy add arccos arcsin arctan arctan2 arctanh argmax argmax_crf1d argmin "
        "as_strided average average_pooling_1d average_pooling_2d average_pooling_3d average_pooling_nd batch_det "
        "batch_inv batch_l2_norm_squared batch_matmul batch_normalization batch_renormalization bernoulli_nll "
        "bias bilinear binary_accuracy black_out broadcast broadcast_to cast ceil cholesky classification_summary "
        "clip clipped_relu concat connectionist_temporal_classification contrastive convolution_1d convolution_2d "
        "convolution_3d convolution_nd copy cos cosh crelu crf1d cross_covariance cumprod cumsum deconvolution_1d "
        "deconvolution_2d deconvolution_3d deconvolution_nd decorrelated_batch_normalization decov "
        "deformable_convolution_2d_sampler depth2space depthwise_convolution_2d det diagonal digamma "
        "dilated_convolution_2d discriminative_margin_based_clustering_loss dropout dstack einsum elu embed_id "
        "erf erfc erfcinv erfcx erfinv exp expand_dims expm1 f1_score fft fix fixed_batch_normalization "
        "fixed_batch_renormalization fixed_decorrelated_batch_normalization flatten flip fliplr flipud floor fmod "
        "forget gaussian gaussian_kl_divergence gaussian_nll get_item group_normalization gumbel_softmax "
        "hard_sigmoid hinge hstack huber_loss identity ifft im2col inv layer_normalization leaky_relu lgamma "
        "linear linear_interpolate local_convolution_2d local_response_normalization log log10 log1p log2 "
        "log_ndtr log_softmax logsumexp lstm matmul max max_pooling_1d max_pooling_2d max_pooling_3d "
        "max_pooling_nd maximum maxout mean mean_absolute_error mean_squared_error min minimum moveaxis "
        "n_step_bigru n_step_bilstm n_step_birnn n_step_gru n_step_lstm n_step_rnn ndtr ndtri negative_sampling "
        "normalize pad pad_sequence permutate polygamma precision prelu prod r2_score recall relu relu6 repeat "
        "reshape resize_images roi_average_align_2d roi_average_pooling_2d roi_max_align_2d roi_max_pooling_2d "
        "roi_pooling_2d rollaxis rrelu rsqrt scale scatter_add select_item selu separate shift sigmoid "
        "sigmoid_cross_entropy sign simplified_dropconnect sin sinh slstm softmax softmax_cross_entropy softplus "
        "space2depth sparse_matmul spatial_pyramid_pooling_2d spatial_transformer_grid "
        "spatial_transformer_sampler split_axis sqrt square squared_difference squared_error squeeze stack sum "
        "sum_to swapaxes swish tan tanh tensordot tile transpose transpose_sequence tree_lstm triplet "
        "unpooling_1d unpooling_2d unpooling_3d unpooling_nd upsampling_2d vstack where zeta zoneout"
    ),
    "cvzoo.initializers": (
        "Constant DownsamplingConvFilter generate_array GlorotNormal GlorotUniform HeNormal HeUniform Identity "
        "LeCunNormal LeCunUniform NaN Normal One Orthogonal Uniform UpsamplingDeconvFilter Zero"
    ),
    "cvzoo.iterators": (
        "DaliIterator MultiprocessIterator MultithreadIterator OrderSampler SerialIterator ShuffleOrderSampler"
    ),
    "cvzoo.link_hooks": ("SpectralNormalization TimerHook WeightStandardization"),
    "cvzoo.links": (
        "BatchNormalization BatchRenormalization Bias Bilinear BinaryHierarchicalSoftmax BlackOut caffe "
        "ChildSumTreeLSTM Classifier Convolution1D Convolution2D Convolution3D ConvolutionND CRF1d "
        "Deconvolution1D Deconvolution2D Deconvolution3D DeconvolutionND DecorrelatedBatchNormalization "
        "DeformableConvolution2D DepthwiseConvolution2D DilatedConvolution2D EmbedID GoogLeNet GroupNormalization "
        "GRU Highway Inception InceptionBN LayerNormalization Linear LocalConvolution2D LSTM Maxout "
        "MLPConvolution2D NaryTreeLSTM NegativeSampling NStepBiGRU NStepBiLSTM NStepBiRNNReLU NStepBiRNNTanh "
        "NStepGRU NStepLSTM NStepRNNReLU NStepRNNTanh Parameter PReLU ResNet101Layers ResNet152Layers "
        "ResNet50Layers Scale SimplifiedDropconnect StatefulGRU StatefulMGU StatefulPeepholeLSTM "
        "StatefulZoneoutLSTM StatelessGRU StatelessLSTM StatelessMGU Swish TheanoFunction VGG16Layers VGG19Layers"
    ),
    "cvzoo.links.model": ("vision"),
    "cvzoo.optimizer_hooks": ("GradientClipping GradientHardClipping GradientLARS GradientNoise Lasso WeightDecay"),
    "cvzoo.optimizers": (
        "AdaBound AdaDelta AdaGrad Adam AdamW AMSBound AMSGrad CorrectedMomentumSGD MomentumSGD MSVAG NesterovAG "
        "RMSprop RMSpropGraves SGD SMORMS3"
    ),
    "cvzoo.serializers": (
        "DictionarySerializer HDF5Deserializer HDF5Serializer load_hdf5 load_npz NpzDeserializer save_hdf5 save_npz"
    ),
    "cvzoo.testing": (
        "assert_allclose assert_warns attr BackendConfig condition distribution_unittest fix_random "
        "from_pytest_parameterize FunctionTestCase FunctionTestError generate_matrix generate_seed "
        "get_trainer_with_mock_updater InitializerArgument inject_backend_tests LinkInitializersTestCase "
        "LinkTestCase LinkTestError parameterize parameterize_pytest patch product product_dict run_module "
        "save_and_load save_and_load_hdf5 save_and_load_npz unary_math_function_unittest with_requires "
        "without_requires"
    ),
    "cvzoo.training": (
        "Extension extensions get_trigger IntervalTrigger make_extension ParallelUpdater PRIORITY_EDITOR "
        "PRIORITY_READER PRIORITY_WRITER snapshot_writers StandardUpdater Trainer triggers Updater updaters util"
    ),
    "cvzoo.training.extensions": (
        "dump_graph DumpGraph Evaluator ExponentialShift FailOnNonNumber InverseShift LinearShift LogReport "
        "MicroAverage MultistepShift observe_lr observe_value ParameterStatistics PlotReport PolynomialShift "
        "PrintReport ProgressBar snapshot snapshot_object snapshot_writers StepShift unchain_variables "
        "VariableStatisticsPlot WarmupShift"
    ),
    "cvzoo.training.triggers": (
        "BestValueTrigger EarlyStoppingTrigger IntervalTrigger ManualScheduleTrigger MaxValueTrigger "
        "MinValueTrigger OnceTrigger TimeTrigger"
    ),
    "cvzoo.training.updaters": ("MultiprocessParallelUpdater ParallelUpdater StandardUpdater"),
    "cvzoo.utils": (
        "CooMatrix enable_final experimental final force_array force_type get_conv_outsize get_deconv_outsize "
        "get_order nondeterministic size_of_shape sum_to tempdir to_coo type_check WalkerAlias"
    ),
}


@pytest.mark.parametrize("package", NAMES)
def test_a_name_of_chainers_documentation_is_there_or_says_what_to_use(package):
    module = importlib.import_module(package)
    absent = {name for name in NAMES[package].split() if not _exists(module, name)}
    assert absent <= set(ABSENT.get(package, ()))


def _exists(module, name):
    try:
        return hasattr(module, name)
    except ReplacedNameError:
        return False


@pytest.mark.parametrize("package", ABSENT)
def test_absent_names_are_absent_and_what_replaces_them_is_there(package):
    module = importlib.import_module(package)
    for name, reason in ABSENT[package].items():
        assert re.match("use |cvzoo has no |nothing is unpickled", reason)
        with pytest.raises(ReplacedNameError, match=re.escape(f"{package} has no {name}: {reason}") + "$"):
            getattr(module, name)
        for path in re.findall(r"cvzoo(?:\.\w+)+", reason):
            *parts, last = path.split(".")
            assert hasattr(importlib.import_module(".".join(parts)), last), f"{package}.{name}: {path}"


NEEDED = {  # what users of a library for computer vision miss: it must exist
    "cvzoo.functions": (
        "average_pooling_nd classification_summary contrastive convolution_nd deconvolution_nd f1_score fbeta_score "
        "deformable_convolution_2d_sampler hinge identity max_pooling_nd precision r2_score recall "
        "spatial_transformer_grid spatial_transformer_sampler triplet unpooling_nd"
    ),
    "cvzoo.links": (
        "BinaryHierarchicalSoftmax ConvolutionND DeconvolutionND DeformableConvolution2D Inception InceptionBN "
        "NegativeSampling Parameter"
    ),
    "cvzoo.iterators": "OrderSampler ShuffleOrderSampler",
    "cvzoo.datasets": "LabeledImageDataset split_dataset_n split_dataset_n_random",
    "cvzoo.optimizers": "CorrectedMomentumSGD",
    "cvzoo.link_hooks": "SpectralNormalization WeightStandardization",
    "cvzoo.utils": "type_check WalkerAlias",
    "cvzoo.testing": "FunctionTestCase LinkInitializersTestCase LinkTestCase",
    "cvzoo": "get_device report",
}


@pytest.mark.parametrize("package", NEEDED)
def test_what_users_of_chainer_miss_first_exists(package):
    module = importlib.import_module(package)
    assert [name for name in NEEDED[package].split() if not hasattr(module, name)] == []
