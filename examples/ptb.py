"""Train an LSTM language model with truncated backpropagation through time.

    python examples/ptb.py

It trains on this repository's documentation, which takes about a minute; `--train FILE --valid FILE` trains on other
text, such as the Penn Treebank's `ptb.train.txt` and `ptb.valid.txt`. The first line printed has the perplexity of a
unigram model for comparison. Ctrl-C saves a snapshot; the same command with --resume continues, with the LSTM's state
reset if it was interrupted within an epoch.
"""

import argparse
import collections
import math
import pathlib
import re

import numpy as np

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import datasets, iterators, optimizers, reporting, training
from cvzoo.training import extensions

ROOT = pathlib.Path(__file__).resolve().parents[1]
UNKNOWN, END = "<unk>", "<eos>"


class LanguageModel(cvzoo.Chain):
    """Scores (B, n_word) of the next words from words (B,); stateful."""

    def __init__(self, n_word, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_word, n_units)
            self.l1 = L.LSTM(n_units, n_units)
            self.l2 = L.Linear(n_units, n_word)

    def reset_state(self):
        self.l1.reset_state()

    def forward(self, x):
        h = self.l1(F.dropout(self.embed(x), 0.4))
        return self.l2(F.dropout(h, 0.4))


def words_of(lines):
    """The words, digits and punctuation of the lines, a list of str; lines that are not empty end with `<eos>`."""
    words = []
    for line in lines:
        tokens = re.findall(r"<unk>|[a-z]+|\S", line.lower())
        words += [*tokens, END] if tokens else []
    return words


def documentation():
    """The words of this repository's documentation: (train, valid); every tenth paragraph is in valid."""
    train: list[str] = []
    valid: list[str] = []
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    paragraphs = [each for page in pages for each in page.read_text(encoding="utf-8").split("\n\n")]
    for number, paragraph in enumerate(paragraphs):
        (valid if number % 10 == 9 else train).extend(words_of(paragraph.splitlines()))
    return train, valid


def numbered(train, valid, least=3):
    """Both as arrays of word ids, and the vocabulary's size; words with fewer than `least` occurrences share an id."""
    count = collections.Counter(train)
    known = [UNKNOWN, *sorted(word for word in count if count[word] >= least and word != UNKNOWN)]
    number = {word: i for i, word in enumerate(known)}
    return (*(np.array([number.get(word, 0) for word in words], np.int32) for words in (train, valid)), len(known))


def unigram_perplexity(train, valid, n_word):
    """Perplexity of a unigram model with add-one smoothing."""
    count = np.bincount(train, minlength=n_word) + 1
    return math.exp(-np.log(count / count.sum())[valid].mean())


def in_rows(words, n_row):
    """(word, next word) in such an order that batches of `n_row` step through `n_row` parts of the text in parallel."""
    length = (len(words) - 1) // n_row
    at = np.arange(n_row * length).reshape(n_row, length).T.ravel()
    return datasets.TupleDataset(words[at], words[at + 1])


def learn_window(updater, window=35):
    """One step of truncated backpropagation: gradients stop at the window's first word, the state is kept."""
    iterator, optimizer = updater.get_iterator("main"), updater.get_optimizer("main")
    model = optimizer.target
    loss, count = cvzoo.Variable(np.float32(0)), 0
    while count < window:
        loss += model(*updater.converter(iterator.next(), updater.device))
        count += 1
        if iterator.is_new_epoch:
            break
    model.cleargrads()
    loss.backward()
    loss.unchain_backward()
    optimizer.update()
    reporting.report({"loss": loss.item() / count}, model)
    if iterator.is_new_epoch:  # the text starts over
        model.predictor.reset_state()


def add_perplexity(line):
    """Adds perplexities to the losses of a log entry."""
    for name, key in (("perplexity", "main/loss"), ("validation/perplexity", "validation/main/loss")):
        if key in line:
            line[name] = math.exp(line[key])


def main(texts, *, out="result", n_epoch=8, batch_size=40, n_units=200, rate=3e-3, seed=0, resume=False):
    """The perplexity of the validation text after the last epoch, and that of the unigram model.

    texts: (train, valid), lists of words
    """
    cvzoo.set_seed(seed)
    train, valid, n_word = numbered(*texts)
    baseline = unigram_perplexity(train, valid, n_word)
    print(f"{len(train)} words to learn from, {len(valid)} to be tested with, {n_word} of them different;", end=" ")
    print(f"known by frequency alone, their perplexity is {baseline:.1f}")

    model = L.Classifier(LanguageModel(n_word, n_units))
    model.compute_accuracy = False
    optimizer = optimizers.Adam(alpha=rate).setup(model)
    optimizer.add_hook(optimizers.GradientClipping(5))
    train_iter = iterators.SerialIterator(in_rows(train, batch_size), batch_size, shuffle=False)
    valid_iter = iterators.SerialIterator(in_rows(valid, 10), 10, repeat=False, shuffle=False)
    updater = training.StandardUpdater(train_iter, optimizer, update_core=learn_window)
    trainer = training.Trainer(updater, (n_epoch, "epoch"), out=out)

    tested = model.copy()  # shares the parameters, but has its own state
    tested.predictor.reset_state()
    start = lambda _: tested.predictor.reset_state()  # noqa: E731
    trainer.extend(extensions.Evaluator(valid_iter, tested, eval_hook=start))
    trainer.extend(extensions.LogReport(postprocess=add_perplexity))
    trainer.extend(extensions.PrintReport(["epoch", "perplexity", "validation/perplexity", "elapsed_time"]))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.snapshot(autoload=resume))
    trainer.run()
    return trainer.get_extension("LogReport").log[-1]["validation/perplexity"], baseline


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train an LSTM language model.")
    parser.add_argument("--train", type=pathlib.Path, help="training text; default: this repository's documentation")
    parser.add_argument("--valid", type=pathlib.Path, help="validation text")
    parser.add_argument("--out", default="result", help="folder of the log and the snapshots")
    parser.add_argument("--epoch", type=int, default=8)
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="continue from the newest snapshot in --out")
    args = parser.parse_args()
    if (args.train is None) != (args.valid is None):
        parser.error("--train and --valid come together")
    if args.train is None:
        texts = documentation()
    else:
        texts = tuple(words_of(path.read_text(encoding="utf-8").splitlines()) for path in (args.train, args.valid))
    main(texts, out=args.out, n_epoch=args.epoch, n_units=args.units, seed=args.seed, resume=args.resume)
