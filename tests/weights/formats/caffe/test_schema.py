from cvzoo.weights.formats.caffe.schema import BY_NUMBER, ENUMS, MESSAGES, SCALARS, V1_SPELLING


def test_every_kind_is_known():
    for message, fields in MESSAGES.items():
        for field in fields.values():
            known = field.kind in (*SCALARS, "Blob") or field.kind in ENUMS or field.kind in MESSAGES
            assert known, f"{message}.{field.name}: {field.kind}"


def test_no_number_is_given_twice():
    for message, fields in MESSAGES.items():
        assert len(BY_NUMBER[message]) == len(fields), message


def test_the_old_types_have_the_numbers_of_caffe_proto():
    types = ENUMS["V1LayerType"]
    want = {1: "Accuracy", 4: "Convolution", 14: "InnerProduct", 17: "Pooling", 21: "SoftmaxWithLoss", 22: "Split"}
    want |= {
        25: "Eltwise",
        29: "MemoryData",
        33: "Slice",
        36: "Silence",
        39: "Deconvolution",
        27: "SigmoidCrossEntropyLoss",
    }
    assert {number: types[number] for number in want} == want
    assert len(types) == 40
    assert set(V1_SPELLING.values()) >= set(types.values())
