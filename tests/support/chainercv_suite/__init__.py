"""Runs the tests of a checkout of ChainerCV against cvzoo: names of `chainer` and `chainercv` become cvzoo's."""
