"""Links that contain other links."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, overload

from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.links.link import Link

Self = TypeVar("Self", bound="Chain")
LinkT = TypeVar("LinkT", bound=Link)


class Chain(Link):
    """A link whose children are attributes: those assigned inside `with self.init_scope():`, or given by name.

    A link that is later assigned to a child's name replaces the child; anything else removes it.
    """

    notes_children = True

    _children: dict[str, None]

    def __new__(cls: type[Self], *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self.__dict__["_children"] = {}
        return self

    def __init__(self, **links: Link):
        for name, link in links.items():
            self.add_link(name, link)

    def __setattr__(self, name: str, value: Any) -> None:
        concerns_tree = name in self._children
        if not isinstance(value, Link):
            self._children.pop(name, None)
        elif self._within_init_scope or concerns_tree:
            value.__dict__["name"] = name
            self._children[name] = None
            concerns_tree = True
        super().__setattr__(name, value)
        if concerns_tree:
            self._walk.note(tree=True)

    def __delattr__(self, name: str) -> None:
        self._children.pop(name, None)
        super().__delattr__(name)

    def __getitem__(self, name: str) -> Link:
        """The child of that name."""
        if name not in self._children:
            raise ValueRangeError(
                f"{type(self).__name__} has no child {name!r}", expected=", ".join(self._children) or "no child at all"
            )
        return self.__dict__[name]

    def add_link(self, name: str, link: LinkT) -> LinkT:
        """Make `link` the child `name`; returns it.

        Raises DtypeError if it is no link, ValueRangeError if there is something of that name.
        """
        if not isinstance(link, Link):
            raise DtypeError(f"{type(self).__name__}: the child {name!r} must be a link", got=type(link).__name__)
        self._refuse_taken(name)
        with self.init_scope():
            setattr(self, name, link)
        return link

    def children(self) -> Iterator[Link]:
        for name in self._children:
            yield self.__dict__[name]

    def named_children(self) -> Iterator[tuple[str, Link]]:
        for name in self._children:
            yield name, self.__dict__[name]

    def _shared_copy(self: Self) -> Self:
        twin = super()._shared_copy()
        twin.__dict__["_children"] = dict(self._children)
        for name in self._children:
            twin.__dict__[name] = twin.__dict__[name]._shared_copy()
        return twin


ListSelf = TypeVar("ListSelf", bound="ChainList")


Layer = Callable[..., Any]  # a Sequential takes any, a ChainList only links


class ChainList(Link):
    """A list of links; children are named by their index."""

    notes_children = True

    _layers: list[Any]  # links, and in a Sequential other callables

    def __new__(cls: type[ListSelf], *args: Any, **kwargs: Any) -> ListSelf:
        self = super().__new__(cls)
        self.__dict__["_layers"] = []
        return self

    def __init__(self, *links: Layer):
        for link in links:
            self.append(link)

    @staticmethod
    def _check(link: object) -> None:
        if not isinstance(link, Link):
            raise DtypeError("a ChainList holds links", got=type(link).__name__, hint="Sequential for any callable")

    def append(self, link: Layer) -> None:
        """Append `link`."""
        self._check(link)
        self._layers.append(link)
        self._walk.note(tree=True)

    def add_link(self, link: Link) -> Link:
        """Append `link`; returns it."""
        self.append(link)
        return link

    def extend(self, links: Iterable[Layer]) -> None:
        """Append the links."""
        for link in links:
            self.append(link)

    def insert(self, index: int, link: Layer) -> None:
        """Insert `link` before the one at `index`."""
        self._check(link)
        self._layers.insert(index, link)
        self._walk.note(tree=True)

    def pop(self, index: int = -1) -> Link:
        """Remove and return the link at `index`."""
        taken = self._layers.pop(index)
        self._walk.note(tree=True)
        return taken

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> list[Link]: ...
    def __getitem__(self, index: int | slice) -> Link | list[Link]:
        return self._layers[index]

    def __setitem__(self, index: int, link: Layer) -> None:
        self._check(link)
        self._layers[index] = link
        self._walk.note(tree=True)

    def __delitem__(self, index: int | slice) -> None:
        del self._layers[index]
        self._walk.note(tree=True)

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Link]:
        return iter(self._layers)

    def children(self) -> Iterator[Link]:
        for _, child in self.named_children():
            yield child

    def named_children(self) -> Iterator[tuple[str, Link]]:
        for number, layer in enumerate(self._layers):
            if isinstance(layer, Link):
                yield str(number), layer

    def _shared_copy(self: ListSelf) -> ListSelf:
        twin = super()._shared_copy()
        twin.__dict__["_layers"] = [x._shared_copy() if isinstance(x, Link) else x for x in self._layers]
        return twin


class Sequential(ChainList):
    """Links and other callables, called in order.

    >>> model = Sequential(L.Linear(784, 100), F.relu, L.Linear(100, 10))
    """

    @staticmethod
    def _check(link: object) -> None:
        if not callable(link):
            raise DtypeError("a Sequential holds links and other callables", got=type(link).__name__)

    def forward(self, *inputs: Any) -> Any:
        """The last layer's output; a tuple that a layer returns is passed to the next as several arguments."""
        if not self._layers:
            raise GraphError("an empty Sequential has no output")
        out = None
        for layer in self._layers:
            out = layer(*inputs)
            inputs = out if isinstance(out, tuple) else (out,)
        return out

    def flatten(self) -> "Sequential":
        """A Sequential of the same layers, with nested Sequentials flattened."""
        flat = Sequential()
        for layer in self._layers:
            flat.extend(layer.flatten() if isinstance(layer, Sequential) else [layer])
        return flat

    def repeat(self, count: int, mode: str = "init") -> "Sequential":
        """A Sequential of `count` copies of this one; `mode` as in `copy`."""
        return Sequential(*(self.copy(mode) for _ in range(count)))

    def remove_by_layer_type(self, name: str) -> None:
        """Remove all layers whose class or function is called `name`."""
        self._layers[:] = [layer for layer in self._layers if _name_of(layer) != name]
        self._walk.note(tree=True)

    def count_by_layer_type(self, name: str) -> int:
        """The number of layers whose class or function is called `name`."""
        return sum(_name_of(layer) == name for layer in self._layers)


def _name_of(layer: Layer) -> str:
    return type(layer).__name__ if isinstance(layer, Link) else getattr(layer, "__name__", type(layer).__name__)


def _repeat(self: Link, n_repeat: int, mode: str = "init") -> Sequential:
    """A Sequential of `n_repeat` copies of this link; `mode` as in `copy`."""
    return Sequential(*(self.copy(mode) for _ in range(n_repeat)))


Link.repeat = _repeat  # set here, since Sequential is a subclass of Link, defined after it
