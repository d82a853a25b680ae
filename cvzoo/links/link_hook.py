"""Hooks called before and after links compute."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from cvzoo.autodiff.function_hook import this_thread
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.graph.readers import report_read

Hook = TypeVar("Hook", bound="LinkHook")


@dataclasses.dataclass
class LinkCall:
    """A call of a link, as passed to hooks.

    link: whose `forward` it is
    args, kwargs: what it was given
    out: what it returned; None before, and if it raised
    """

    link: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any = None
    forward_name: str = "forward"


class LinkHook:
    """Override what is needed, then `link.add_hook(MyHook())`, for one link, or `with MyHook() as hook: ...`, for all
    links that this thread calls in the block.

    name: what `Link.delete_hook` knows it by
    is_replayed: whether compiled graphs repeat what it does, since it computes by functions alone. With another hook of
        one link no chain around that link is replayed; a `with` block replays nothing

    In inference the zoo's networks fuse a convolution with its normalization and activation: those with hooks compute
    layer by layer, as in training, so that `out` is what the layer itself returns.
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

    def added(self, link: Any) -> None:
        """When it is added to a link; None for a `with` block."""

    def deleted(self, link: Any) -> None:
        """When it is deleted from a link; None for a `with` block."""

    def forward_preprocess(self, args: LinkCall) -> None:
        """Before `forward`."""

    def forward_postprocess(self, args: LinkCall) -> None:
        """After `forward`, also when it raised."""


def add_hook_to(link: Any, hook: LinkHook, name: str) -> None:
    """What `Link.add_hook` does and says."""
    if name in link.local_link_hooks:
        raise ValueRangeError(f"{type(link).__name__} already has a hook {name!r}", hint="add_hook(hook, name=...)")
    hook.added(link)
    _put(link, {**link.local_link_hooks, name: hook})


def delete_hook_of(link: Any, name: str) -> None:
    """What `Link.delete_hook` does and says."""
    hooks = dict(link.local_link_hooks)
    if name not in hooks:
        raise ValueRangeError(f"{type(link).__name__} has no hook {name!r}", expected=", ".join(hooks) or "none")
    hooks.pop(name).deleted(link)
    _put(link, hooks)


def _put(link: Any, hooks: dict[str, LinkHook]) -> None:
    state = vars(link)
    for name in state.pop("_replays", ()):  # graphs know no hooks
        del state[name]
    state.pop("_hooks", None)
    if hooks:
        state["_hooks"] = hooks
    link._walk.note(tree=True)


def between_hooks(link: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """function(*args, **kwargs), with the hooks of the link and of this thread called before it and after it."""
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
