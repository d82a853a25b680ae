"""The sections of a cfg compute what darknet's C code computes, written here once more with loops."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import CvzooError, FileFormatError, ShapeError, UnsupportedError
from cvzoo.links.model.darknet.network import DarknetNetwork

CONV = "[convolutional]\nfilters=4\nsize=3\nstride=1\npad=1\nactivation=linear\n"


def net(body, width=8, height=6, channels=3):
    return f"[net]\nwidth={width}\nheight={height}\nchannels={channels}\n{body}"


def run(text, x, weights=None):
    network = DarknetNetwork(text, weights)
    with using_config("train", False), no_backprop_mode():
        y = network(x)
    return y.array if not isinstance(y, tuple) else tuple(each.array for each in y)


def photo(channels=3, height=6, width=8, batch=2):
    return np.random.default_rng(0).normal(size=(batch, channels, height, width)).astype(np.float32)


def weights_file(path, *arrays, transposed=False):
    header = struct.pack("<3iQ", 0, 2, 0, 1) if not transposed else struct.pack("<4i", 1001, 0, 0, 1)
    path.write_bytes(header + b"".join(np.asarray(each, "<f4").tobytes() for each in arrays))
    return path


# --- layers with numbers --------------------------------------------------------------------------------------------
def plain_convolution(x, w, stride, pad, groups, dilate):
    batch, _, height, width = x.shape
    n_out, n_in, ksize, _ = w.shape
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    span = dilate * (ksize - 1) + 1
    out_h, out_w = (height + 2 * pad - span) // stride + 1, (width + 2 * pad - span) // stride + 1
    y = np.zeros((batch, n_out, out_h, out_w))
    for o in range(n_out):
        first = o // (n_out // groups) * n_in
        for i in range(out_h):
            for j in range(out_w):
                window = padded[
                    :,
                    first : first + n_in,
                    i * stride : i * stride + span : dilate,
                    j * stride : j * stride + span : dilate,
                ]
                y[:, o, i, j] = (window * w[o]).sum(axis=(1, 2, 3))
    return y


@pytest.mark.parametrize(
    ("options", "ksize", "stride", "pad", "groups", "dilate"),
    [
        ("size=3\nstride=1\npad=1\n", 3, 1, 1, 1, 1),
        ("size=3\nstride=2\npad=1\n", 3, 2, 1, 1, 1),
        ("size=1\n", 1, 1, 0, 1, 1),
        ("size=1\npad=1\n", 1, 1, 0, 1, 1),  # pad=1 with size=1 is no padding
        ("size=5\npad=1\n", 5, 1, 2, 1, 1),  # and with size=5 it is 2
        ("size=3\npadding=0\n", 3, 1, 0, 1, 1),
        ("size=3\npadding=2\n", 3, 1, 2, 1, 1),
        ("size=3\npad=1\ngroups=2\n", 3, 1, 1, 2, 1),
        ("size=3\npad=1\ngroups=4\nstride=2\n", 3, 2, 1, 4, 1),
        ("size=3\npad=1\ndilation=2\n", 3, 1, 2, 1, 2),
    ],
)
@pytest.mark.parametrize("batch_normalize", [False, True])
def test_convolutional(tmp_path, options, ksize, stride, pad, groups, dilate, batch_normalize):
    rng = np.random.default_rng(1)
    w = rng.normal(size=(8, 4 // groups, ksize, ksize))
    bias, scale, mean, var = rng.normal(size=8), rng.normal(size=8), rng.normal(size=8), rng.random(8) + 0.1
    x = photo(channels=4)
    expected = plain_convolution(x, w, stride, pad, groups, dilate)
    if batch_normalize:
        shape = (1, 8, 1, 1)
        expected = (expected - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-5) * scale.reshape(shape)
    expected = expected + bias.reshape(1, 8, 1, 1)
    expected = np.where(expected > 0, expected, 0.1 * expected)
    arrays = (bias, scale, mean, var, w) if batch_normalize else (bias, w)
    text = net(
        f"[convolutional]\nfilters=8\n{options}activation=leaky\nbatch_normalize={int(batch_normalize)}\n", channels=4
    )
    y = run(text, x, weights_file(tmp_path / "a.weights", *arrays))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("linear", lambda x: x),
        ("leaky", lambda x: np.where(x > 0, x, 0.1 * x)),
        ("relu", lambda x: np.maximum(x, 0)),
        ("relu6", lambda x: np.clip(x, 0, 6)),
        ("logistic", lambda x: 1 / (1 + np.exp(-x))),
        ("tanh", np.tanh),
        ("elu", lambda x: np.where(x > 0, x, np.exp(x) - 1)),
        ("swish", lambda x: x / (1 + np.exp(-x))),
        ("mish", lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ],
)
def test_activations(tmp_path, name, formula):
    x = photo(channels=1) * 4
    text = net(f"[convolutional]\nfilters=1\nsize=1\nactivation={name}\n", channels=1)
    y = run(text, x, weights_file(tmp_path / "a.weights", [0.5], [2.0]))
    np.testing.assert_allclose(y, formula(2 * x.astype(float) + 0.5), rtol=1e-4, atol=1e-5)


def test_an_absent_activation_is_logistic_as_in_darknet(tmp_path):
    x = photo(channels=1)
    y = run(net("[convolutional]\n", channels=1), x, weights_file(tmp_path / "a.weights", [0.0], [1.0]))
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-x)), rtol=1e-5)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("batch_normalize", [False, True])
def test_connected(tmp_path, transposed, batch_normalize):
    rng = np.random.default_rng(1)
    w, bias, scale, mean = rng.normal(size=(5, 18)), rng.normal(size=5), rng.normal(size=5), rng.normal(size=5)
    var = rng.random(5) + 0.1
    x = photo(height=2, width=3)
    expected = x.reshape(2, -1) @ w.T
    if batch_normalize:
        expected = (expected - mean) / np.sqrt(var + 1e-5) * scale
    expected = expected + bias
    arrays = [bias, w.T if transposed else w] + ([scale, mean, var] if batch_normalize else [])
    path = weights_file(tmp_path / "a.weights", *arrays, transposed=transposed)
    text = net(f"[connected]\noutput=5\nactivation=linear\nbatch_normalize={int(batch_normalize)}\n", 3, 2)
    np.testing.assert_allclose(run(text, x, path)[:, :, 0, 0], expected, rtol=1e-4, atol=1e-5)


# --- layers without numbers -----------------------------------------------------------------------------------------
def plain_maxpool(x, size, stride, padding):
    batch, channels, height, width = x.shape
    out_h, out_w = (height + padding - size) // stride + 1, (width + padding - size) // stride + 1
    y = np.full((batch, channels, out_h, out_w), -np.inf, np.float32)
    for i in range(out_h):
        for j in range(out_w):
            for n in range(size):
                for m in range(size):
                    row, column = i * stride + n - padding // 2, j * stride + m - padding // 2
                    if 0 <= row < height and 0 <= column < width:
                        y[:, :, i, j] = np.maximum(y[:, :, i, j], x[:, :, row, column])
    return y


@pytest.mark.parametrize("hw", [(6, 8), (7, 9), (5, 5)])
@pytest.mark.parametrize(
    ("options", "size", "stride", "padding"),
    [
        ("size=2\nstride=2\n", 2, 2, 1),
        ("size=2\nstride=1\n", 2, 1, 1),  # below and to the right only
        ("size=3\nstride=1\n", 3, 1, 2),
        ("size=3\nstride=2\n", 3, 2, 2),
        ("size=5\nstride=1\n", 5, 1, 4),
        ("size=2\nstride=2\npadding=0\n", 2, 2, 0),
        ("stride=2\n", 2, 2, 1),
    ],
)
def test_maxpool(hw, options, size, stride, padding):
    x = photo(height=hw[0], width=hw[1])
    text = net(f"[maxpool]\n{options}", hw[1], hw[0])
    network = DarknetNetwork(text)
    y = run(text, x)
    np.testing.assert_array_equal(y, plain_maxpool(x, size, stride, padding))
    assert network.layers[0].shape == y.shape[1:]


def plain_reorg(x, stride, *, forward=False):
    """darknet's loop over two flat arrays."""
    batch, c, h, w = x.shape
    out = np.zeros_like(x).reshape(-1)
    flat = np.ascontiguousarray(x).reshape(-1)
    out_c = c // (stride * stride)
    for b in range(batch):
        for k in range(c):
            for j in range(h):
                for i in range(w):
                    in_index = i + w * (j + h * (k + c * b))
                    c2, offset = k % out_c, k // out_c
                    w2, h2 = i * stride + offset % stride, j * stride + offset // stride
                    out_index = w2 + w * stride * (h2 + h * stride * (c2 + out_c * b))
                    if forward:
                        out[out_index] = flat[in_index]
                    else:
                        out[in_index] = flat[out_index]
    if forward:
        return out.reshape(batch, out_c, h * stride, w * stride)
    return out.reshape(batch, c * stride**2, h // stride, w // stride)


@pytest.mark.parametrize("stride", [1, 2])
def test_reorg_is_darknets_own_permutation(stride):
    x = photo(channels=8)
    text = net(f"[reorg]\nstride={stride}\n", channels=8)
    np.testing.assert_array_equal(run(text, x), plain_reorg(x, stride))
    if stride == 2:
        usual = x.reshape(2, 8, 3, 2, 4, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 32, 3, 4)
        assert not np.array_equal(run(text, x), usual)


def test_reorg_with_reverse():
    x = photo(channels=8)
    y = run(net("[reorg]\nstride=2\nreverse=1\n", channels=8), x)
    np.testing.assert_array_equal(y, plain_reorg(x, 2, forward=True))


def test_upsample_repeats_pixels():
    x = photo()
    expected = x.repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(run(net("[upsample]\n"), x), expected)
    np.testing.assert_allclose(run(net("[upsample]\nstride=2\nscale=0.5\n"), x), expected / 2)


def test_avgpool_and_softmax():
    x = photo(channels=6)
    y = run(net("[avgpool]\n[softmax]\ngroups=2\ntemperature=2\n[cost]\ntype=sse\n", channels=6), x)
    e = np.exp(x.mean(axis=(2, 3)).reshape(2, 2, 3) / 2)
    np.testing.assert_allclose(y.reshape(2, 2, 3), e / e.sum(axis=2, keepdims=True), rtol=1e-5)


def test_dropout_passes_everything_in_a_trained_network():
    x = photo()
    np.testing.assert_array_equal(run(net("[dropout]\nprobability=.5\n"), x), x)


def test_route_joins_counts_from_here_and_takes_parts():
    x = photo(channels=4)
    base = "[maxpool]\nsize=1\nstride=1\n[upsample]\nstride=1\nscale=2\n"
    one, two = x, 2 * x
    for layers, expected in {
        "-1,-2": [two, one],
        "0,1": [one, two],
        "-2": [one],
        "1,1": [two, two],
    }.items():
        y = run(net(f"{base}[route]\nlayers={layers}\n", channels=4), x)
        np.testing.assert_array_equal(y, np.concatenate(expected, axis=1))
    y = run(net(f"{base}[route]\nlayers=-1\ngroups=2\ngroup_id=1\n", channels=4), x)
    np.testing.assert_array_equal(y, two[:, 2:])
    y = run(net(f"{base}[route]\nlayers=-1,-2\ngroups=4\ngroup_id=2\n", channels=4), x)
    np.testing.assert_array_equal(y, np.concatenate([two[:, 2:3], one[:, 2:3]], axis=1))


def test_shortcut_adds_and_activates():
    x = photo(channels=4)
    base = "[maxpool]\nsize=1\nstride=1\n[upsample]\nstride=1\nscale=-3\n"
    np.testing.assert_allclose(run(net(f"{base}[shortcut]\nfrom=-2\n", channels=4), x), -2 * x, rtol=1e-6)
    y = run(net(f"{base}[shortcut]\nfrom=0\nactivation=leaky\n", channels=4), x)
    np.testing.assert_allclose(y, np.where(x < 0, -2 * x, -0.2 * x), rtol=1e-5)
    y = run(net(f"{base}[upsample]\nstride=1\n[shortcut]\nfrom=-2,-3\n", channels=4), x)
    np.testing.assert_allclose(y, -5 * x, rtol=1e-5)


def test_shortcut_of_other_channels_and_sizes_adds_what_both_have():
    x = photo(channels=4)
    more = "[maxpool]\nsize=1\nstride=1\n[route]\nlayers=0,0\n[shortcut]\nfrom=0\n"
    y = run(net(more, channels=4), x)
    np.testing.assert_array_equal(y, np.concatenate([2 * x, x], axis=1))
    fewer = "[maxpool]\nsize=1\nstride=1\n[route]\nlayers=0\ngroups=2\n[shortcut]\nfrom=0\n"
    np.testing.assert_array_equal(run(net(fewer, channels=4), x), 2 * x[:, :2])
    larger = "[upsample]\nstride=1\n[maxpool]\nsize=1\nstride=2\n[shortcut]\nfrom=0\n"
    np.testing.assert_array_equal(run(net(larger, channels=4), x), 2 * x[:, :, ::2, ::2])


def test_scale_channels_and_sam():
    x = photo(channels=4)
    se = "[upsample]\nstride=1\n[avgpool]\n[scale_channels]\nfrom=-2\n"
    np.testing.assert_allclose(
        run(net(se, channels=4), x), x * x.mean(axis=(2, 3), keepdims=True), rtol=1e-4, atol=1e-6
    )
    sam = "[upsample]\nstride=1\n[upsample]\nstride=1\nscale=2\n[sam]\nfrom=-2\nactivation=linear\n"
    np.testing.assert_allclose(run(net(sam, channels=4), x), 2 * x * x, rtol=1e-5)


# --- the network ----------------------------------------------------------------------------------------------------
HEAD = "[convolutional]\nfilters=21\nsize=1\nactivation=linear\n"
HEAD += "[yolo]\nmask=0,1,2\nanchors=1,2,3,4,5,6\nclasses=2\nnum=3\n"


def test_outputs_are_the_inputs_of_the_heads_and_intermediate_values_are_dropped():
    x = photo()
    network = DarknetNetwork(net(CONV + HEAD + "[route]\nlayers=-3\n[upsample]\n" + HEAD))
    with using_config("train", False):
        small, large = network(x)
    assert (small.shape, large.shape) == ((2, 21, 6, 8), (2, 21, 12, 16))
    assert [head.anchors for head in network.heads] == [((2, 1), (4, 3), (6, 5))] * 2
    y = run(net(CONV), x)
    assert y.shape == (2, 4, 6, 8)


def test_another_size_than_the_cfgs_runs_too():
    network = DarknetNetwork(net(CONV + "[maxpool]\nsize=2\nstride=2\n"), size=(16, 4))
    assert network.layers[-1].shape == (4, 8, 2)
    with using_config("train", False):
        assert network(photo(height=16, width=4)).shape == (2, 4, 8, 2)
        assert network(photo(height=7, width=9)).shape == (2, 4, 4, 5)
    with pytest.raises(ShapeError, match="reads images"):
        network(photo(channels=4))
    with pytest.raises(ShapeError):
        network(photo()[0])


def test_gradients_reach_every_parameter():
    text = net(CONV.replace("linear", "mish") + "batch_normalize=1\n" + HEAD)
    network = DarknetNetwork(text)
    (y,) = network(photo())
    (y * y).sum().backward()
    assert all(parameter.grad is not None for parameter in network.params())


def test_parameters_have_names_by_layer():
    network = DarknetNetwork(net(CONV + CONV + "batch_normalize=1\n"))
    assert {"layer0/conv/W", "layer0/conv/b", "layer1/conv/W", "layer1/bn/avg_var"} <= set(network.state_arrays())


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("[lstm]\noutput=3\n", UnsupportedError, r"line 5: section \[lstm\] is not supported"),
        ("[local]\n", UnsupportedError, r"line 5: section \[local\]"),
        (CONV + "\n\n[detection]\n", UnsupportedError, r"line 13: section \[detection\]"),
        (CONV + "xnor=1\n", UnsupportedError, r"line 11, \[convolutional\]: xnor=1"),
        (CONV.replace("linear", "stair"), UnsupportedError, r"line 10, \[convolutional\]: activation=stair"),
        ("[maxpool]\nmaxpool_depth=1\n", UnsupportedError, "maxpool_depth"),
        ("[softmax]\ntree=a.tree\n", UnsupportedError, "tree"),
        ("[shortcut]\nfrom=-1\nweights_type=per_channel\n", UnsupportedError, "weights_type"),
        ("", FileFormatError, "no layers"),
        (CONV.replace("filters=4", "filters=-4"), FileFormatError, r"line 6, .*filters=-4"),
        (CONV.replace("filters=4", "filters=1000000000"), FileFormatError, "filters"),
        (CONV.replace("filters=4", "filters=4\ngroups=2"), FileFormatError, "groups=2"),
        (CONV.replace("size=3", "size=99").replace("pad=1", "pad=0"), FileFormatError, "nothing is left"),
        (CONV.replace("stride=1", "stride=0"), FileFormatError, "stride=0"),
        (CONV.replace("pad=1", "padding=-1"), FileFormatError, "padding=-1"),
        ("[maxpool]\nsize=2\npadding=9\n", FileFormatError, "padding=9"),
        ("[route]\nlayers=-1\n", FileFormatError, r"line 6, \[route\]: layers=-1 means layer -1"),
        (CONV + "[route]\nlayers=1\n", FileFormatError, "layer 1"),
        (CONV + "[route]\nlayers=7\n", FileFormatError, "layer 7"),
        (CONV + "[route]\n", FileFormatError, "layers"),
        (CONV + "[route]\nlayers=0\ngroups=3\n", FileFormatError, "groups=3"),
        (CONV + "[route]\nlayers=0\ngroups=2\ngroup_id=2\n", FileFormatError, "group_id=2"),
        (CONV + "[maxpool]\nstride=2\n[route]\nlayers=0,1\n", FileFormatError, "different sizes"),
        (CONV + "[upsample]\n[shortcut]\nfrom=0\n", FileFormatError, "different sizes"),
        (CONV + "[scale_channels]\nfrom=0\n", FileFormatError, r"\[scale_channels\].*index|does not come before|shape"),
        ("[reorg]\nstride=4\n", FileFormatError, "does not divide"),
        ("[dropout]\nprobability=1\n", FileFormatError, "probability"),
        (CONV + "[yolo]\nanchors=1,2\nclasses=2\nnum=1\n", FileFormatError, "need 7 channels, the layer before has 4"),
        (CONV + "[yolo]\nclasses=2\nnum=1\n", FileFormatError, "anchors"),
        (CONV + "[yolo]\nanchors=1,2,3\nclasses=2\nnum=1\n", FileFormatError, "pairs"),
        (CONV + "[yolo]\nanchors=1,2\nmask=3\nclasses=2\nnum=1\n", FileFormatError, "mask"),
        (CONV + "[yolo]\nanchors=0,2\nclasses=2\nnum=1\n", FileFormatError, "positive"),
        (CONV + "[region]\nanchors=1,2\nclasses=2\nnum=5\n", FileFormatError, "num=5"),
        (CONV + "[region]\nanchors=1,2\ntree=9k.tree\n", UnsupportedError, "tree"),
    ],
)
def test_a_cfg_that_cannot_be_is_refused_with_its_line(body, error, message):
    with pytest.raises(error, match=message):
        DarknetNetwork(net(body))


@pytest.mark.parametrize(("width", "height"), [(0, 6), (8, -1), (70000, 6)])
def test_a_net_without_a_size_is_refused(width, height):
    with pytest.raises(FileFormatError, match=r"\[net\]"):
        DarknetNetwork(net(CONV, width, height))


def test_weights_that_do_not_fit_are_refused_with_the_layer(tmp_path):
    text = net(CONV + CONV + "batch_normalize=1\n")
    n_float = (4 + 4 * 27) + (4 * 4 + 4 * 36)
    network = DarknetNetwork(text, weights_file(tmp_path / "a.weights", np.ones(n_float)))
    assert network.state_arrays()["layer1/conv/W"].shape == (4, 4, 3, 3)
    with pytest.raises(FileFormatError, match=r"layer 1 \(\[convolutional\] at line 11\), weights"):
        DarknetNetwork(text, weights_file(tmp_path / "b.weights", np.ones(n_float - 1)))
    with pytest.raises(FileFormatError, match=r"layer 0 \(\[convolutional\] at line 5\), biases"):
        DarknetNetwork(text, weights_file(tmp_path / "b.weights", np.ones(3)))
    with pytest.raises(FileFormatError, match="2 floats"):
        DarknetNetwork(text, weights_file(tmp_path / "c.weights", np.ones(n_float + 2)))


def test_a_cfg_that_claims_huge_layers_does_not_reserve_them(tmp_path):
    text = net("[convolutional]\nfilters=65536\nsize=255\npad=1\nactivation=linear\n" * 2)
    with pytest.raises(FileFormatError, match=r"line 5, .*numbers"):
        DarknetNetwork(text)
    text = net("[convolutional]\nfilters=65536\nsize=31\npad=1\nactivation=linear\n")
    with pytest.raises(FileFormatError, match="layer 0"):
        DarknetNetwork(text, weights_file(tmp_path / "a.weights", np.ones(70_000)))
    with pytest.raises(FileFormatError, match="numbers"):
        DarknetNetwork(net("[connected]\noutput=65536\n", 4096, 4096))


def test_layers_that_are_huge_together_are_refused_before_they_are_made():
    layer = "[convolutional]\nfilters=16384\nsize=1\nbatch_normalize=1\nactivation=linear\n"
    with pytest.raises(FileFormatError, match=r"line 10, .*more than 268435456 numbers"):
        DarknetNetwork(net(layer * 3))


WORDS = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "65536",
    "1e9",
    "-1e9",
    "nan",
    "1,2,3",
    "",
    "leaky",
    "[route]",
    "[yolo]",
    "[reorg]",
    "=",
]
EVERYTHING = net(
    CONV
    + "batch_normalize=1\n[maxpool]\nsize=2\nstride=2\n"
    + "[upsample]\nstride=2\n[route]\nlayers=-1,0\n[shortcut]\nfrom=-2\n"
    + "[reorg]\nstride=2\n[route]\nlayers=0\ngroups=2\ngroup_id=1\n[avgpool]\n[scale_channels]\nfrom=-2\n[dropout]\n"
    + HEAD
    + "[route]\nlayers=0\n[connected]\noutput=5\n[softmax]\ngroups=1\n"
)


def test_a_cfg_with_a_section_of_every_kind_runs():
    (y,) = run(EVERYTHING, photo())
    assert y.shape == (2, 21, 6, 8)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=strategies.data())
def test_a_damaged_cfg_is_refused_by_name_or_runs(data):
    lines = EVERYTHING.split("\n")
    for _ in range(data.draw(strategies.integers(1, 3))):
        i = data.draw(strategies.integers(0, len(lines) - 1))
        option = lines[i].partition("=")[0]
        word = data.draw(strategies.sampled_from(WORDS))
        lines[i] = data.draw(strategies.sampled_from([f"{option}={word}", word, lines[i][:-1], ""]))
    try:
        network = DarknetNetwork("\n".join(lines) + "\n")
    except CvzooError:
        return
    if np.prod([network.in_channels, *network.input_size]) > 1e4 or network.count_params() > 1e6:
        return
    x = np.zeros((1, network.in_channels, *network.input_size), np.float32)
    if max(np.prod(layer.shape) for layer in network.layers) < 1e6:
        with using_config("train", False), no_backprop_mode(), using_config("backend", "numpy"):
            outputs = network(x)
        shapes = [y.shape[1:] for y in outputs] if isinstance(outputs, tuple) else [outputs.shape[1:]]
        assert shapes == [network.layers[place].shape for place in network._outputs]
