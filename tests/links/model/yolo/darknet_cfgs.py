"""The layers of YOLO's networks as cfg texts, written from the papers' tables and the published layer lists."""


def conv(filters, size=3, stride=1, last=False):
    tail = "activation=linear" if last else "batch_normalize=1\nactivation=leaky"
    return f"[convolutional]\nfilters={filters}\nsize={size}\nstride={stride}\npad=1\n{tail}\n"


def net(size=416):
    return f"[net]\nwidth={size}\nheight={size}\nchannels=3\n"


POOL = "[maxpool]\nsize=2\nstride=2\n"


def route(*layers):
    return f"[route]\nlayers={','.join(map(str, layers))}\n"


def region(n_class, anchors):
    return f"[region]\nanchors={anchors}\nclasses={n_class}\ncoords=4\nnum=5\nsoftmax=1\n"


def yolo(n_class, mask, anchors):
    return f"[yolo]\nmask={mask}\nanchors={anchors}\nclasses={n_class}\nnum=9\n"


def yolo_v2(n_class, size=416):
    anchors = "1.3221,1.73145, 3.19275,4.00944, 5.05587,8.09892, 9.47112,4.84053, 11.2364,10.0071"
    text = net(size) + conv(32) + POOL + conv(64) + POOL
    for filters in (128, 256):
        text += conv(filters) + conv(filters // 2, 1) + conv(filters) + POOL
    text += conv(512) + conv(256, 1) + conv(512) + conv(256, 1) + conv(512) + POOL
    text += conv(1024) + conv(512, 1) + conv(1024) + conv(512, 1) + conv(1024)
    text += conv(1024) + conv(1024) + route(-9) + conv(64, 1) + "[reorg]\nstride=2\n" + route(-1, -4)
    return text + conv(1024) + conv(5 * (5 + n_class), 1, last=True) + region(n_class, anchors)


def yolo_v2_tiny(n_class, mid=1024, size=416):
    anchors = "1.08,1.19, 3.42,4.41, 6.63,11.38, 9.42,5.11, 16.62,10.52"
    text = net(size)
    for filters in (16, 32, 64, 128, 256):
        text += conv(filters) + POOL
    text += conv(512) + "[maxpool]\nsize=2\nstride=1\n" + conv(1024) + conv(mid)
    return text + conv(5 * (5 + n_class), 1, last=True) + region(n_class, anchors)


def yolo_v3(n_class, size=416):
    anchors = "10,13, 16,30, 33,23, 30,61, 62,45, 59,119, 116,90, 156,198, 373,326"
    text = net(size) + conv(32)
    for filters, n_block in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)):
        text += conv(filters, stride=2)
        text += (conv(filters // 2, 1) + conv(filters) + "[shortcut]\nfrom=-3\nactivation=linear\n") * n_block
    for filters, mask, lateral in ((512, "6,7,8", 61), (256, "3,4,5", 36), (128, "0,1,2", None)):
        text += (conv(filters, 1) + conv(2 * filters)) * 3
        text += conv(3 * (5 + n_class), 1, last=True) + yolo(n_class, mask, anchors)
        if lateral is not None:
            text += route(-4) + conv(filters // 2, 1) + "[upsample]\nstride=2\n" + route(-1, lateral)
    return text


def yolo_v3_tiny(n_class, size=416):
    anchors = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"
    text = net(size)
    for filters in (16, 32, 64, 128, 256):
        text += conv(filters) + POOL
    text += conv(512) + "[maxpool]\nsize=2\nstride=1\n" + conv(1024) + conv(256, 1) + conv(512)
    text += conv(3 * (5 + n_class), 1, last=True) + yolo(n_class, "3,4,5", anchors)
    text += route(-4) + conv(128, 1) + "[upsample]\nstride=2\n" + route(-1, 8) + conv(256)
    return text + conv(3 * (5 + n_class), 1, last=True) + yolo(n_class, "0,1,2", anchors)


def darknet19(size=224):
    text = yolo_v2(20, size)
    text = text[: text.index("[route]")]  # the classifier has neither the head nor its two convolutions
    text = text[: -2 * len(conv(1024))]
    return text + conv(1000, 1, last=True) + "[avgpool]\n[softmax]\ngroups=1\n"


def darknet53(size=256):
    text = yolo_v3(20, size)
    text = text[: text.index(conv(512, 1) + conv(1024) + conv(512, 1))]
    return text + "[avgpool]\n" + conv(1000, 1, last=True) + "[softmax]\ngroups=1\n"
