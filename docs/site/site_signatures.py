"""Signatures as the source has them: `bbox: BBox`, and not the union of types that numpy makes of an alias."""

import ast
import copy
import functools
import inspect
import pathlib
from typing import Any


def source_signature(value: Any) -> tuple[str, str | None] | None:
    """Arguments in parentheses and the returned type of a function, or of a class' constructor; None: not in a source.

    `self` and `cls` are left out, and quotes around annotations.
    """
    is_class = inspect.isclass(value)
    function = inspect.unwrap(_constructor(value) if is_class else getattr(value, "__func__", value))
    code = getattr(function, "__code__", None)
    if code is None or "cvzoo" not in code.co_filename:
        return None
    node = _functions(code.co_filename).get((code.co_name, code.co_firstlineno))
    if node is None:
        return None
    owner = getattr(value, "__qualname__", "").rpartition(".")[0]
    is_method = is_class or (owner != "" and not owner.endswith("<locals>"))
    returns = ast.unparse(_unquoted(node.returns)) if node.returns is not None and not is_class else None
    arguments = _arguments(copy.deepcopy(node.args), skip=is_method and not _is_static(node))
    # a wrapper that takes anything says less than what it wraps
    return None if arguments.startswith("*args") else (f"({arguments})", returns)


def _constructor(cls: type) -> Any:
    """The `__init__` that the class was given by hand, or None: dataclasses and tuples have theirs made."""
    return cls.__init__ if cls.__new__ is object.__new__ or "__init__" in vars(cls) or _is_generic(cls) else None


def _is_generic(cls: type) -> bool:
    return "(*args" in str(inspect.signature(cls.__new__))[:10] if inspect.isfunction(cls.__new__) else False


def _is_static(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)


def _arguments(arguments: ast.arguments, *, skip: bool) -> str:
    if skip:
        first = arguments.posonlyargs or arguments.args
        if first:
            del first[0]
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each is not None and each.annotation is not None:
            each.annotation = _unquoted(each.annotation)
    return ast.unparse(arguments)


def _unquoted(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


@functools.cache
def _functions(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """(name, line of the first decorator or of `def`) -> the function, of all functions of a file."""
    nodes = ast.walk(ast.parse(pathlib.Path(file).read_text("utf-8")))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return {(node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])): node for node in functions}
