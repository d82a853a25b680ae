"""ResNet-50, forward and training step, cvzoo against PyTorch eager (channels-last), in turn.

    python benchmarks/resnet50.py --torch-python ENV/bin/python [--out benchmarks/results/FILE.json]

ENV is an environment with the CPU build of torch; this one needs only cvzoo. Both sides use the same number of threads.
The training step is forward, softmax cross entropy, backward and a plain SGD update (lr 0.01, no momentum).
"""

import argparse
import os
import sys

import numpy as np
from side_by_side import Worker, compare, machine, serve, write_results

BATCHES = (1, 8)
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))


def photos(batch: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((batch, 3, 224, 224), "float32")


def cvzoo_model():
    """ResNet-50 as torchvision has it: the stride is the 3 x 3 convolution's."""
    import cvzoo
    import cvzoo.functions as F
    from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
    from cvzoo.links.connection.linear import Linear

    class Bottleneck(cvzoo.Chain):
        def __init__(self, channels_in, mid, stride):
            with self.init_scope():
                self.conv1 = Conv2DBNActiv(channels_in, mid, 1)
                self.conv2 = Conv2DBNActiv(mid, mid, 3, stride, 1)
                self.conv3 = Conv2DBNActiv(mid, 4 * mid, 1, activ=None)
                if stride > 1 or channels_in != 4 * mid:
                    self.shortcut = Conv2DBNActiv(channels_in, 4 * mid, 1, stride, activ=None)
                else:
                    self.shortcut = None

        def forward(self, x):
            h = self.conv3(self.conv2(self.conv1(x)))
            return F.relu(h + (x if self.shortcut is None else self.shortcut(x)))

    class ResNet50(cvzoo.Chain):
        def __init__(self):
            with self.init_scope():
                self.stem = Conv2DBNActiv(3, 64, 7, 2, 3)
                self.body = cvzoo.Sequential()
                self.fc = Linear(2048, 1000)
            channels = 64
            for mid, blocks, stride in STAGES:
                for i in range(blocks):
                    self.body.append(Bottleneck(channels, mid, stride if i == 0 else 1))
                    channels = 4 * mid

        def forward(self, x):
            h = F.max_pooling_2d(self.stem(x), 3, 2, 1, cover_all=False)
            return self.fc(F.global_average_pooling_2d(self.body(h)))

    return ResNet50()


def serve_cvzoo() -> None:
    import cvzoo
    import cvzoo.functions as F

    model = cvzoo_model()
    params = list(model.params())

    def forward(x):
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            return model(x).array

    def train(x, t):
        model.cleargrads()
        F.softmax_cross_entropy(model(x), t).backward()
        for p in params:
            step = p.grad
            step *= np.float32(0.01)
            p.array -= step

    cases = {}
    for batch in BATCHES:
        x = photos(batch)
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        t = np.arange(batch, dtype="int32")
        cases[f"forward batch {batch}"] = lambda x=x: forward(x)
        cases[f"train batch {batch}"] = lambda x=x, t=t: train(x, t)
    serve(cases)


def torch_model():
    """The same, channels-last."""
    import torch
    from torch import nn

    def conv_bn(channels_in, out, ksize, stride=1, pad=0, relu=True):
        layers = [nn.Conv2d(channels_in, out, ksize, stride, pad, bias=False), nn.BatchNorm2d(out)]
        return nn.Sequential(*layers, nn.ReLU(inplace=True)) if relu else nn.Sequential(*layers)

    class Bottleneck(nn.Module):
        def __init__(self, channels_in, mid, stride):
            super().__init__()
            self.convs = nn.Sequential(
                conv_bn(channels_in, mid, 1), conv_bn(mid, mid, 3, stride, 1), conv_bn(mid, 4 * mid, 1, relu=False)
            )
            keep = stride == 1 and channels_in == 4 * mid
            self.shortcut = nn.Identity() if keep else conv_bn(channels_in, 4 * mid, 1, stride, relu=False)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            return self.relu(self.convs(x) + self.shortcut(x))

    blocks, channels = [], 64
    for mid, count, stride in STAGES:
        for i in range(count):
            blocks.append(Bottleneck(channels, mid, stride if i == 0 else 1))
            channels = 4 * mid
    return nn.Sequential(
        conv_bn(3, 64, 7, 2, 3),
        nn.MaxPool2d(3, 2, 1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2048, 1000),
    ).to(memory_format=torch.channels_last)


def serve_torch() -> None:
    import torch
    from torch import nn

    torch.set_num_threads(int(os.environ["CVZOO_NUM_THREADS"]))
    model = torch_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def forward(x):
        model.eval()
        with torch.inference_mode():
            return model(x).numpy()

    def train(x, t):
        model.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), t).backward()
        optimizer.step()

    cases = {}
    for batch in BATCHES:
        x = torch.from_numpy(photos(batch)).to(memory_format=torch.channels_last)
        t = torch.arange(batch)
        cases[f"forward batch {batch}"] = lambda x=x: forward(x)
        cases[f"train batch {batch}"] = lambda x=x, t=t: train(x, t)
    serve(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", help="the python of an environment with torch")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--cases", nargs="*", help="only these, for example 'forward batch 1'")
    parser.add_argument("--out", help="write a JSON file of results")
    parser.add_argument("--serve", choices=("cvzoo", "torch"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve_cvzoo() if arguments.serve == "cvzoo" else serve_torch()
    environment = {"CVZOO_NUM_THREADS": str(arguments.threads), "OMP_NUM_THREADS": str(arguments.threads)}
    workers = [Worker("cvzoo", [sys.executable, __file__, "--serve", "cvzoo"], environment)]
    if arguments.torch_python:
        workers.append(Worker("torch", [arguments.torch_python, __file__, "--serve", "torch"], environment))
    print(machine(), f"threads {arguments.threads}")
    rows = [compare(workers, case, runs=arguments.runs) for case in arguments.cases or workers[0].cases]
    for worker in workers:
        worker.close()
    if arguments.out:
        import cvzoo

        versions = {"cvzoo": cvzoo.__version__, "numpy": np.__version__, "threads": str(arguments.threads)}
        write_results(arguments.out, title="ResNet-50, eager", rows=rows, versions=versions, notes=__doc__)


if __name__ == "__main__":
    main()
