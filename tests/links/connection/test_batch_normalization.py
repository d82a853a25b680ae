"""The running statistics of batch normalization while it is fine-tuned."""

import numpy as np

from cvzoo.config.switches import using_config
from cvzoo.links.connection.batch_normalization import BatchNormalization


def test_finetuning_makes_the_running_statistics_plain_means_over_its_steps():
    bn = BatchNormalization(3)
    batches = np.random.default_rng(0).normal(2, 3, size=(4, 5, 3, 2, 2)).astype(np.float32)
    n = batches[0].size // 3
    with using_config("train", True):
        bn(batches[0] * 9)  # forgotten
        for _ in range(2):
            bn.start_finetuning()
            for x in batches:
                bn(x, finetune=True)
            np.testing.assert_allclose(bn.avg_mean, batches.mean((1, 3, 4)).mean(0), rtol=1e-5)
            np.testing.assert_allclose(bn.avg_var, batches.var((1, 3, 4)).mean(0) * n / (n - 1), rtol=1e-5)
    assert bn.N == 4
