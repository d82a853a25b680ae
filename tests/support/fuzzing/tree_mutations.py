"""Changes of JSON and XML that leave them well-formed."""

import json
import random
import xml.etree.ElementTree as ElementTree

from fuzzing.byte_mutations import NUMBERS, WORDS


def _strange(rng: random.Random) -> object:
    choices = (None, True, False, [], {}, -1, 0.5, 1e308, rng.choice(NUMBERS), -rng.choice(NUMBERS), rng.choice(WORDS))
    value = rng.choice((*choices, "\udce9", float("nan"), float("inf"), [[]] * 100, "\0"))
    for _ in range(rng.choice((0, 0, 0, 1, 3, 900))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def _places(tree: object) -> list[tuple[dict | list, object]]:
    found, todo = [], [tree]
    while todo and len(found) < 2000:
        value = todo.pop()
        if isinstance(value, dict):
            found += [(value, key) for key in value]
            todo += value.values()
        elif isinstance(value, list):
            found += [(value, i) for i in range(len(value))]
            todo += value
    return found


def change_json(rng: random.Random, tree: object) -> object:
    """The tree, changed at one place: a value becomes strange, disappears, comes again, or is another's."""
    places = _places(tree)
    if not places:
        return _strange(rng)
    owner, key = rng.choice(places)
    deed = rng.randrange(5)
    if deed == 0:
        owner[key] = _strange(rng)
    elif deed == 1:
        del owner[key]
    elif deed == 2:
        other, its = rng.choice(places)
        owner[key] = json.loads(json.dumps(other[its]))
    elif isinstance(owner, list):
        owner[key:key] = [owner[key]] * rng.choice((1, 2, 50, 1000))
    else:
        owner[rng.choice(WORDS)] = owner[key]
    return tree


def json_tree(rng: random.Random, data: bytes) -> bytes:
    """JSON, changed at one place; what is none stays as it is."""
    try:
        tree = json.loads(data)
        text = json.dumps(change_json(rng, tree))
    except (ValueError, RecursionError, UnicodeDecodeError):
        return data
    return text.encode()[: 1 << 20]


def xml_tree(rng: random.Random, data: bytes) -> bytes:
    """XML, changed at one element: its text, its name, gone, often, or one in another."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        return data
    elements = list(root.iter())[:2000]
    chosen = rng.choice(elements)
    deed = rng.randrange(5)
    if deed == 0:
        chosen.text = rng.choice((str(rng.choice(NUMBERS)), "nan", "-1", "1e400", "", "x" * 5000, "é\x85", "9" * 5000))
    elif deed == 1:
        chosen.tag = rng.choice(elements).tag
    elif deed == 2 and len(chosen):
        chosen.remove(rng.choice(list(chosen)))
    elif deed == 3:
        chosen.extend([rng.choice(elements)] * 1 if chosen is root else [ElementTree.Element("a")] * 300)
    else:
        chosen.set("a", "b")
    try:
        return ElementTree.tostring(root)[: 1 << 20]
    except (RecursionError, ValueError):
        return data


def xml_head(rng: random.Random, data: bytes) -> bytes:
    """A declaration stands before: of an odd encoding, or of entities that unfold."""
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "ha" * 10}">' for i in range(8))
    names = ("utf-8", "utf-16", "utf-7", "shift_jis", "nope", "", "latin-1", "idna", "hex")
    head = f'<?xml version="1.0" encoding="{rng.choice(names)}"?>'
    if rng.random() < 0.3:
        head += f"<!DOCTYPE a [{entities}]>"
        data = data.replace(b"<name>", b"<name>&a7;", 1)
    if rng.random() < 0.2:
        head += '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
        data = data.replace(b"<name>", b"<name>&x;", 1)
    return head.encode() + data
