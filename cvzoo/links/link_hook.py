"""Hooks called before and after links compute."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.graph.readers import report_read

if TYPE_CHECKING:
    from cvzoo.links.link import Link

Hook = TypeVar("Hook", bound="LinkHook")


@dataclasses.dataclass
class LinkCall:
    """A call of a link, as passed to hooks.

    link: whose `forward` is called
    args, kwargs: its arguments
    out: its result; None before the call, and if it raised
    """

    link: "Link"
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any = None
    forward_name: str = "forward"


class LinkHook:
    """Base class of link hooks: `link.add_hook(MyHook())` for one link, or `with MyHook() as hook: ...` for all links
    that this thread calls in the block.

    name: of the hook, for `Link.delete_hook`
    is_replayed: whether compiled graphs replay what it computes, since it consists of functions only. With any other
        hook of one link, chains around that link are not replayed; hooks of a `with` block are never replayed

    In inference the zoo's networks fuse a convolution with its normalization and activation: those with hooks compute
    layer by layer, as in training, so that `out` is the output of the layer itself.
    """

    name = "LinkHook"
    is_replayed = False

    def __enter__(self: Hook) -> Hook:
        this_thread.link_hooks = (*this_thread.link_hooks, self)
        self.added(None)
        return self

    def __exit__(self, *error: object) -> None:
        this_thread.link_hooks = tuple([hook for hook in this_thread.link_hooks if hook is not self])
        self.deleted(None)

    def added(self, link: "Link | None") -> None:
        """Called when it is added to a link; None for a `with` block."""

    def deleted(self, link: "Link | None") -> None:
        """Called when it is deleted from a link; None for a `with` block."""

    def forward_preprocess(self, args: LinkCall) -> None:
        """Called before `forward`."""

    def forward_postprocess(self, args: LinkCall) -> None:
        """Called after `forward`, also when it raised."""


def add_hook_to(link: "Link", hook: LinkHook, name: str) -> None:
    """Implements `Link.add_hook`."""
    if name in link.local_link_hooks:
        raise ValueRangeError(f"{type(link).__name__} already has a hook {name!r}", hint="add_hook(hook, name=...)")
    hook.added(link)
    _set_hooks(link, {**link.local_link_hooks, name: hook})


def delete_hook_of(link: "Link", name: str) -> None:
    """Implements `Link.delete_hook`."""
    hooks = dict(link.local_link_hooks)
    if name not in hooks:
        raise ValueRangeError(f"{type(link).__name__} has no hook {name!r}", expected=", ".join(hooks) or "none")
    hooks.pop(name).deleted(link)
    _set_hooks(link, hooks)


def _set_hooks(link: "Link", hooks: dict[str, LinkHook]) -> None:
    state = vars(link)
    for name in state.pop("_replays", ()):  # graphs do not call hooks
        del state[name]
    state.pop("_hooks", None)
    if hooks:
        state["_hooks"] = hooks
    link._walk.note(tree=True)


def between_hooks(link: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs), with calls of the link's and this thread's hooks before and after it."""
    call = LinkCall(link, args, kwargs)
    called: list[LinkHook] = []
    own = link.local_link_hooks.values()
    for hook in own:
        if not hook.is_replayed:
            report_read(f"the hook {hook.name} of a {type(link).__name__}")
    try:
        for hook in (*own, *this_thread.link_hooks):
            hook.forward_preprocess(call)
            called.append(hook)
        call.out = function(*args, **kwargs)
        return call.out
    finally:
        for hook in reversed(called):
            hook.forward_postprocess(call)
